/* The energy-aware loop, its problems and solvers in C: what the compiled Python is measured by.

   The same algorithms, generator, draw order and bookkeeping as in eij_core, on the very arrays
   that eij_core allocates, so that both end with the same numbers. Structs list fields by name in
   limit.py. Functions are inlined into one loop per combination, as numba does. */

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef int64_t i64;
typedef uint64_t u64;
typedef uint32_t u32;
typedef uint8_t u8;

#define INLINE static inline __attribute__((always_inline))

/* --- random numbers: xoshiro256++ --- */

INLINE u64 rotl(u64 x, int k) { return (x << k) | (x >> (64 - k)); }

INLINE u64 word(u64 *s) {
    u64 drawn = rotl(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return drawn;
}

INLINE double uniform(u64 *s) { return (double)(i64)(word(s) >> 11) * 0x1p-53; }

INLINE i64 below(u64 *s, i64 n) {
    u64 bound = (u64)n, product = (word(s) >> 32) * bound, low = product & 0xFFFFFFFF;
    if (low < bound) {
        u64 threshold = (0x100000000 - bound) % bound;
        while (low < threshold) {
            product = (word(s) >> 32) * bound;
            low = product & 0xFFFFFFFF;
        }
    }
    return (i64)(product >> 32);
}

INLINE double normals(u64 *s, double *second) {
    double u, v, r;
    do {
        u = 2.0 * uniform(s) - 1.0;
        v = 2.0 * uniform(s) - 1.0;
        r = u * u + v * v;
    } while (!(r > 0.0 && r < 1.0));
    double factor = sqrt(-2.0 * log(r) / r);
    *second = v * factor;
    return u * factor;
}

INLINE i64 skip(u64 *s, double log_miss, double all_miss) {
    double chance = 1.0 - uniform(s);
    if (chance < all_miss) return 1000000000000000;
    double gap = log(chance) / log_miss;
    return (i64)(gap < 1e15 ? gap : 1e15);
}

INLINE void fill_uniforms(u64 *rng, double *x, i64 draws) {
    u64 s[4] = {rng[0], rng[1], rng[2], rng[3]};
    for (i64 i = 0; i < draws; i++) {
        u64 drawn = word(s);
        x[2 * i] = (double)(i64)(drawn >> 32) * 0x1p-32;
        x[2 * i + 1] = (double)(i64)(drawn & 0xFFFFFFFF) * 0x1p-32;
    }
    memcpy(rng, s, sizeof s);
}

/* --- bits, 64 to a word --- */

INLINE u64 low_bits(i64 count) { return count <= 0 ? 0 : count >= 64 ? ~(u64)0 : ~(~(u64)0 << count); }

INLINE void unpack(const u64 *words, u8 *x, i64 n) {
    for (i64 i = 0; i < n; i++) x[i] = words[i / 64] >> (i % 64) & 1;
}

INLINE i64 differences(const u64 *a, const u64 *b, i64 words, i64 *places, i64 most) {
    i64 count = 0;
    for (i64 w = 0; w < words; w++)
        for (u64 unlike = a[w] ^ b[w]; unlike; unlike &= unlike - 1) {
            if (count == most) return most + 1;
            places[count++] = 64 * w + __builtin_ctzll(unlike);
        }
    return count;
}

/* --- problems --- */

typedef struct {
    double (*fitness)(const void *, const u8 *);
    void (*toggle)(const void *, u8 *, i64 *, i64);
    double (*value)(const void *, const i64 *);
    double (*preview)(const void *, const u8 *, i64 *, const i64 *, i64);
    void (*prepare)(const void *, const u8 *, i64 *);
    i64 (*memo)(const void *);  /* length of a memo */
    i64 (*reach)(const void *); /* flips up to which a preview is quicker than a full evaluation */
} Methods;

typedef struct {
    i64 n;
    const i64 *profits, *weights;
    i64 capacity;
    double penalty;
} Knapsack;

INLINE double knapsack_value(const void *self, const i64 *memo) {
    const Knapsack *p = self;
    i64 excess = memo[1] - p->capacity;
    return (double)memo[0] - p->penalty * (double)(excess > 0 ? excess : 0);
}

INLINE void knapsack_prepare(const void *self, const u8 *x, i64 *memo) {
    const Knapsack *p = self;
    i64 profit = 0, weight = 0;
    for (i64 i = 0; i < p->n; i++) {
        profit += p->profits[i] & -(i64)x[i];
        weight += p->weights[i] & -(i64)x[i];
    }
    memo[0] = profit;
    memo[1] = weight;
}

INLINE double knapsack_fitness(const void *self, const u8 *x) {
    i64 memo[2];
    knapsack_prepare(self, x, memo);
    return knapsack_value(self, memo);
}

INLINE void knapsack_toggle(const void *self, u8 *x, i64 *memo, i64 i) {
    const Knapsack *p = self;
    i64 sign = 1 - 2 * (i64)x[i];
    memo[0] += sign * p->profits[i];
    memo[1] += sign * p->weights[i];
    x[i] ^= 1;
}

INLINE double knapsack_preview(const void *self, const u8 *x, i64 *memo, const i64 *bits,
                               i64 count) {
    const Knapsack *p = self;
    i64 new[2] = {memo[0], memo[1]};
    for (i64 j = 0; j < count; j++) {
        i64 i = bits[j], out = -(i64)x[i];
        new[0] += (p->profits[i] ^ out) - out;
        new[1] += (p->weights[i] ^ out) - out;
    }
    return knapsack_value(p, new);
}

INLINE i64 knapsack_memo(const void *self) { return 2; }

INLINE i64 knapsack_reach(const void *self) { return 1 + ((const Knapsack *)self)->n / 16; }

typedef struct {
    i64 n, k;
    const u32 *neighbours;
    const i64 *tables, *first;
    const u32 *readers;
    const i64 *weights;
    double scale;
} Nk;

INLINE double nk_value(const void *self, const i64 *memo) {
    const Nk *p = self;
    return (double)memo[p->n] * p->scale;
}

INLINE i64 nk_index(const Nk *p, const u8 *x, i64 i) {
    const u32 *row = p->neighbours + i * (p->k + 1);
    i64 index = 0;
    for (i64 j = 0; j <= p->k; j++) index = 2 * index + x[row[j]];
    return index;
}

INLINE double nk_fitness(const void *self, const u8 *x) {
    const Nk *p = self;
    i64 total = 0;
    for (i64 i = 0; i < p->n; i++) total += p->tables[(i << (p->k + 1)) + nk_index(p, x, i)];
    return (double)total * p->scale;
}

INLINE void nk_prepare(const void *self, const u8 *x, i64 *memo) {
    const Nk *p = self;
    memo[p->n] = 0;
    for (i64 i = 0; i < p->n; i++) {
        memo[i] = nk_index(p, x, i);
        memo[p->n] += p->tables[(i << (p->k + 1)) + memo[i]];
    }
}

INLINE i64 nk_effect(const Nk *p, const i64 *memo, i64 r) {
    const i64 *table = p->tables + ((i64)p->readers[r] << (p->k + 1));
    i64 old = memo[p->readers[r]];
    return table[old ^ p->weights[r]] - table[old];
}

INLINE i64 nk_shift(const Nk *p, i64 *memo, i64 i) {
    i64 change = 0;
    for (i64 r = p->first[i]; r < p->first[i + 1]; r++) {
        change += nk_effect(p, memo, r);
        memo[p->readers[r]] ^= p->weights[r];
    }
    return change;
}

INLINE void nk_toggle(const void *self, u8 *x, i64 *memo, i64 i) {
    const Nk *p = self;
    memo[p->n] += nk_shift(p, memo, i);
    x[i] ^= 1;
}

INLINE double nk_preview(const void *self, const u8 *x, i64 *memo, const i64 *bits, i64 count) {
    const Nk *p = self;
    i64 total = memo[p->n];
    for (i64 j = 1; j < count; j++) total += nk_shift(p, memo, bits[j]);
    for (i64 r = p->first[bits[0]]; r < p->first[bits[0] + 1]; r += 4)
        total += nk_effect(p, memo, r) + nk_effect(p, memo, r + 1) + nk_effect(p, memo, r + 2)
               + nk_effect(p, memo, r + 3);
    for (i64 j = 1; j < count; j++)
        for (i64 r = p->first[bits[j]]; r < p->first[bits[j] + 1]; r++)
            memo[p->readers[r]] ^= p->weights[r];
    return (double)total * p->scale;
}

INLINE i64 nk_memo(const void *self) { return ((const Nk *)self)->n + 1; }

INLINE i64 nk_reach(const void *self) { return 1 + ((const Nk *)self)->n / 8; }

typedef struct {
    i64 n, words, length;
    const i64 *cost;
    double scale;
    i64 worst;
} Ecc;

INLINE double ecc_of(const Ecc *p, i64 total) {
    return total >= p->worst ? 0.0 : p->scale / (double)total;
}

INLINE double ecc_value(const void *self, const i64 *memo) {
    const Ecc *p = self;
    return ecc_of(p, memo[p->words]);
}

INLINE void ecc_prepare(const void *self, const u8 *x, i64 *memo) {
    const Ecc *p = self;
    i64 total = 0;
    for (i64 i = 0; i < p->words; i++) {
        memo[i] = 0;
        for (i64 b = 0; b < p->length; b++) memo[i] |= (i64)x[i * p->length + b] << b;
    }
    for (i64 i = 0; i < p->words; i++)
        for (i64 j = 0; j < i; j++) total += p->cost[__builtin_popcountll(memo[i] ^ memo[j])];
    memo[p->words] = total;
}

INLINE double ecc_fitness(const void *self, const u8 *x) {
    const Ecc *p = self;
    i64 memo[p->words + 1];
    ecc_prepare(p, x, memo);
    return ecc_of(p, memo[p->words]);
}

INLINE i64 ecc_change(const Ecc *p, const i64 *memo, i64 i) {
    i64 row = i / p->length, old = memo[row], new = old ^ ((i64)1 << (i - row * p->length));
    i64 change = p->cost[0] - p->cost[1];
    for (i64 j = 0; j < p->words; j++)
        change += p->cost[__builtin_popcountll(new ^ memo[j])]
                - p->cost[__builtin_popcountll(old ^ memo[j])];
    return change;
}

INLINE void ecc_invert(const Ecc *p, i64 *memo, i64 i) {
    i64 row = i / p->length;
    memo[row] ^= (i64)1 << (i - row * p->length);
}

INLINE void ecc_toggle(const void *self, u8 *x, i64 *memo, i64 i) {
    const Ecc *p = self;
    memo[p->words] += ecc_change(p, memo, i);
    ecc_invert(p, memo, i);
    x[i] ^= 1;
}

INLINE double ecc_preview(const void *self, const u8 *x, i64 *memo, const i64 *bits, i64 count) {
    const Ecc *p = self;
    i64 total = memo[p->words];
    for (i64 j = 1; j < count; j++) {
        total += ecc_change(p, memo, bits[j]);
        ecc_invert(p, memo, bits[j]);
    }
    total += ecc_change(p, memo, bits[0]);
    for (i64 j = 1; j < count; j++) ecc_invert(p, memo, bits[j]);
    return ecc_of(p, total);
}

INLINE i64 ecc_memo(const void *self) { return ((const Ecc *)self)->words + 1; }

INLINE i64 ecc_reach(const void *self) { return 1 + ((const Ecc *)self)->words / 8; }

/* --- algorithms --- */

typedef struct {
    double gain;
    i64 evaluations, touches;
} Outcome;

INLINE double delta_of(double new, double old) {
    double delta = new - old;
    return fabs(delta) <= 1e-12 * fabs(old) ? 0.0 : delta;
}

typedef struct {
    i64 population;
    double crossover;
} Ssga;

typedef struct {
    u8 *best_x;
    double *best_f;
    u8 *members;
    u64 *genes;
    double *fitness;
    i64 *heap, *memos, *bits;
    u64 *children;
    double *children_f;
    u8 *x;
    double *deltas;
    double log_keep, keep_all;
} SsgaState;

INLINE i64 tournament(const double *fitness, i64 size, u64 *rng) {
    i64 a = below(rng, size), b = below(rng, size);
    return fitness[a] >= fitness[b] ? a : b;
}

INLINE void sift_down(i64 *heap, i64 size, const double *fitness) {
    i64 member = heap[0], root = 0, branch = 1;
    while (branch < size) {
        if (branch + 1 < size && fitness[heap[branch + 1]] < fitness[heap[branch]]) branch++;
        if (fitness[member] <= fitness[heap[branch]]) break;
        heap[root] = heap[branch];
        root = branch;
        branch = 2 * root + 1;
    }
    heap[root] = member;
}

INLINE double evaluate(const Methods *m, const void *problem, i64 n, SsgaState *s,
                       const u64 *child, i64 first, i64 second) {
    i64 reach = m->reach(problem), words = (n + 63) / 64, parent = first;
    i64 count = differences(child, s->genes + first * words, words, s->bits, reach);
    if (count > reach) {
        parent = second;
        count = differences(child, s->genes + second * words, words, s->bits, reach);
    }
    if (count == 0) return s->fitness[parent];
    if (count <= reach)
        return m->preview(problem, s->members + parent * n, s->memos + parent * m->memo(problem),
                          s->bits, count);
    unpack(child, s->x, n);
    return m->fitness(problem, s->x);
}

INLINE Outcome ssga_apply(const Methods *m, const void *problem, i64 n, const void *self,
                          i64 children, void *at, u64 *rng) {
    const Ssga *a = self;
    SsgaState *s = at;
    double gain = 0.0;
    i64 words = (n + 63) / 64;
    for (i64 c = 0; c < children; c++) {
        u64 *child = s->children + c * words;
        i64 first = tournament(s->fitness, a->population, rng);
        i64 second = tournament(s->fitness, a->population, rng), cut = n;
        if (n > 1 && uniform(rng) < a->crossover) cut = 1 + below(rng, n - 1);
        for (i64 w = 0; w < words; w++) {
            u64 mother = s->genes[first * words + w], father = s->genes[second * words + w];
            child[w] = father ^ ((mother ^ father) & low_bits(cut - 64 * w));
        }
        for (i64 i = skip(rng, s->log_keep, s->keep_all); i < n;
             i += 1 + skip(rng, s->log_keep, s->keep_all))
            child[i / 64] ^= (u64)1 << (i % 64);
        double f = evaluate(m, problem, n, s, child, first, second);
        double better = fmax(s->fitness[first], s->fitness[second]);
        s->children_f[c] = f;
        s->deltas[c] = delta_of(f, better);
        gain += s->deltas[c];
    }
    for (i64 c = 0; c < children; c++) {
        double f = s->children_f[c];
        i64 worst = s->heap[0];
        if (f <= s->fitness[worst]) continue;
        u8 *x = s->members + worst * n;
        memcpy(s->genes + worst * words, s->children + c * words, words * sizeof(u64));
        unpack(s->children + c * words, x, n);
        m->prepare(problem, x, s->memos + worst * m->memo(problem));
        s->fitness[worst] = f;
        if (f > s->best_f[0]) {
            s->best_f[0] = f;
            memcpy(s->best_x, x, n);
        }
        sift_down(s->heap, a->population, s->fitness);
    }
    return (Outcome){gain, children, children * n};
}

typedef struct {
    i64 swarm;
    double w, c1, c2, vmax;
} Pso;

typedef struct {
    u8 *best_x;
    double *best_f, *place, *velocity, *fitness, *own_place, *own_f, *best_place;
    u8 *x;
    double *draws, *deltas;
} PsoState;

INLINE i64 move(Pso a, i64 n, i64 social, double *restrict place, double *restrict velocity,
                const double *restrict own, const double *restrict best,
                const double *restrict draws) {
    i64 others = 0;
    for (i64 i = 0; i < n; i++) {
        double before = place[i], v = a.w * velocity[i] + a.c1 * draws[i] * (own[i] - before);
        if (social) v += a.c2 * draws[n + i] * (best[i] - before);
        v = fmin(fmax(v, -a.vmax), a.vmax);
        velocity[i] = v;
        place[i] = before + v;
        others += floor(before + v) != floor(before);
    }
    return others;
}

INLINE void settle(i64 n, double *restrict place, u8 *restrict x, u64 *restrict rng) {
    for (i64 i = 0; i < n; i++)
        x[i] = (place[i] < 0.0) | (place[i] >= 2.0) ? 2 : place[i] >= 1.0;
    for (i64 i = 0; i < n; i++)
        if (x[i] == 2) {
            place[i] = 2.0 * uniform(rng);
            x[i] = place[i] >= 1.0;
        }
}

INLINE Outcome pso_apply(const Methods *m, const void *problem, i64 n, const void *self,
                         i64 social, void *at, u64 *rng) {
    const Pso *a = self;
    PsoState *s = at;
    double gain = 0.0;
    i64 leader = 0;
    for (i64 p = 0; p < a->swarm; p++) {
        double *place = s->place + p * n, *own = s->own_place + p * n;
        u8 *x = s->x;
        fill_uniforms(rng, s->draws, social ? n : (n + 1) / 2);
        double f = s->fitness[p];
        if (move(*a, n, social, place, s->velocity + p * n, own, s->best_place, s->draws)) {
            settle(n, place, x, rng);
            f = m->fitness(problem, x);
        }
        s->deltas[p] = delta_of(f, s->fitness[p]);
        gain += s->deltas[p];
        s->fitness[p] = f;
        if (f > s->own_f[p]) {
            s->own_f[p] = f;
            memcpy(own, place, n * sizeof *own);
            if (f > s->best_f[0]) {
                s->best_f[0] = f;
                memcpy(s->best_x, x, n);
            }
        }
    }
    for (i64 p = 1; p < a->swarm; p++)
        if (s->own_f[p] > s->own_f[leader]) leader = p;
    memcpy(s->best_place, s->own_place + leader * n, n * sizeof(double));
    return (Outcome){gain, a->swarm, (social ? 2 : 1) * a->swarm * n};
}

typedef struct {
    i64 steps;
} Ils;

typedef struct {
    u8 *best_x;
    double *best_f;
    i64 *best_memo;
    u8 *x;
    i64 *memo, *bits;
    double *deltas;
} IlsState;

INLINE i64 keep_new(i64 *numbers, i64 kept, i64 number) {
    for (i64 k = 0; k < kept; k++)
        if (numbers[k] == number) return 0;
    numbers[kept] = number;
    return 1;
}

INLINE void draw_distinct(u64 *rng, i64 n, i64 *numbers, i64 count) {
    u64 s[4] = {rng[0], rng[1], rng[2], rng[3]}, remainders = 0;
    for (i64 j = 0; j < count; j++) {
        numbers[j] = below(s, n);
        remainders |= (u64)1 << (numbers[j] & 63);
    }
    if (__builtin_popcountll(remainders) < count) {
        i64 kept = 1;
        for (i64 j = 1; j < count; j++) kept += keep_new(numbers, kept, numbers[j]);
        while (kept < count) kept += keep_new(numbers, kept, below(s, n));
    }
    memcpy(rng, s, sizeof s);
}

INLINE void toggle_all(const Methods *m, const void *problem, u8 *x, i64 *memo, const i64 *bits,
                       i64 count) {
    for (i64 j = 0; j < count; j++) m->toggle(problem, x, memo, bits[j]);
}

INLINE double flip_all(const Methods *m, const void *problem, u8 *x, i64 *memo, const i64 *bits,
                       i64 count) {
    toggle_all(m, problem, x, memo, bits, count);
    return m->value(problem, memo);
}

INLINE Outcome ils_apply(const Methods *m, const void *problem, i64 n, const void *self,
                         i64 count, void *at, u64 *rng) {
    const Ils *a = self;
    IlsState *s = at;
    size_t memo_bytes = m->memo(problem) * sizeof(i64);
    memcpy(s->x, s->best_x, n);
    memcpy(s->memo, s->best_memo, memo_bytes);
    draw_distinct(rng, n, s->bits, count);
    double f = flip_all(m, problem, s->x, s->memo, s->bits, count);
    for (i64 step = 0; step < a->steps; step++) {
        draw_distinct(rng, n, s->bits, count);
        double new = m->preview(problem, s->x, s->memo, s->bits, count);
        if (new > f) {
            f = new;
            toggle_all(m, problem, s->x, s->memo, s->bits, count);
        }
    }
    double delta = delta_of(f, s->best_f[0]);
    if (f > s->best_f[0]) {
        s->best_f[0] = f;
        memcpy(s->best_x, s->x, n);
        memcpy(s->best_memo, s->memo, memo_bytes);
    }
    s->deltas[0] = delta;
    return (Outcome){delta, a->steps + 1, count * (a->steps + 1)};
}

/* --- the scheduler --- */

typedef struct {
    i64 *tries;
    double *gain, *gain_var, *log_joules, *log_joules_var, *joules;
    double alpha;
    i64 least;
} Eij;

typedef struct {
    i64 *applications;
    double *gain, *gain_squares, *joules, *joules_squares;
    i64 chosen;
} Static;

typedef struct {
    double joules, step;
} Limits;

typedef struct {
    const double *per_application, *per_evaluation;
    double per_touch, noise;
} Meter;

typedef struct {
    double *joules;
    i64 *evaluations, *decisions;
    double *mark;
    i64 *applications;
    double *operator_joules;
    i64 *operator_evaluations;
    double *operator_gain;
    i64 *histogram;
} Ledger;

typedef struct {
    u64 *moves, *picks, *noise;
} Streams;

typedef struct {
    i64 size, *decision, *operator;
    double *gain, *joules, *spent;
    i64 *evaluations;
    double *best;
    i64 *applications;
    double *operator_joules, *beliefs;
} Trace;

typedef struct {
    i64 (*select)(const void *, i64, double, u64 *);
    void (*learn)(void *, i64, double, double);
    void (*belief)(const void *, i64, double *);
} Rule;

INLINE i64 eij_select(const void *self, i64 count, double left, u64 *rng) {
    const Eij *s = self;
    i64 waiting = 0, winner = 0;
    for (i64 o = 0; o < count; o++) waiting += s->tries[o] < s->least;
    if (waiting > 0) {
        i64 turn = below(rng, waiting);
        for (i64 o = 0; o < count; o++)
            if (s->tries[o] < s->least && turn-- == 0) return o;
    }
    double highest = -1e308;
    for (i64 o = 0; o < count; o++) {
        double z_joules, z_gain = normals(rng, &z_joules);
        double gain = s->gain[o] + sqrt(s->gain_var[o]) * z_gain;
        double joules = exp(s->log_joules[o] + sqrt(s->log_joules_var[o]) * z_joules);
        double priority = gain / joules * (left / (left + s->joules[o]));
        if (priority > highest) {
            highest = priority;
            winner = o;
        }
    }
    return winner;
}

INLINE void eij_learn(void *self, i64 o, double gain, double joules) {
    Eij *s = self;
    double a = s->alpha, log_joules = log(joules);
    if (s->tries[o] == 0) {
        s->gain[o] = gain;
        s->log_joules[o] = log_joules;
    } else {
        s->gain[o] = a * s->gain[o] + (1.0 - a) * gain;
        double deviation = gain - s->gain[o];
        s->gain_var[o] = a * s->gain_var[o] + (1.0 - a) * deviation * deviation;
        s->log_joules[o] = a * s->log_joules[o] + (1.0 - a) * log_joules;
        deviation = log_joules - s->log_joules[o];
        s->log_joules_var[o] = a * s->log_joules_var[o] + (1.0 - a) * deviation * deviation;
    }
    s->tries[o] += 1;
    s->joules[o] = exp(s->log_joules[o] + 0.5 * s->log_joules_var[o]);
}

INLINE void eij_belief(const void *self, i64 o, double *row) {
    const Eij *s = self;
    double spread = sqrt(exp(s->log_joules_var[o]) - 1.0);
    row[0] = s->gain[o];
    row[1] = sqrt(s->gain_var[o]);
    row[2] = s->joules[o];
    row[3] = s->joules[o] * spread;
    row[4] = s->gain[o] / s->joules[o];
}

INLINE i64 static_select(const void *self, i64 count, double left, u64 *rng) {
    return ((const Static *)self)->chosen;
}

INLINE void static_learn(void *self, i64 o, double gain, double joules) {
    Static *s = self;
    double n = (double)(s->applications[o] += 1), step = gain - s->gain[o];
    s->gain[o] += step / n;
    s->gain_squares[o] += step * (gain - s->gain[o]);
    step = joules - s->joules[o];
    s->joules[o] += step / n;
    s->joules_squares[o] += step * (joules - s->joules[o]);
}

INLINE void static_belief(const void *self, i64 o, double *row) {
    const Static *s = self;
    double n = (double)s->applications[o];
    row[0] = s->gain[o];
    row[1] = sqrt(s->gain_squares[o] / n);
    row[2] = s->joules[o];
    row[3] = sqrt(s->joules_squares[o] / n);
    row[4] = s->gain[o] / s->joules[o];
}

INLINE double metered(const Meter *m, i64 o, Outcome did, u64 *rng) {
    double joules = m->per_application[o] + m->per_evaluation[o] * did.evaluations
                  + m->per_touch * did.touches;
    if (m->noise > 0.0) {
        double unused;
        joules *= exp(m->noise * normals(rng, &unused) - 0.5 * m->noise * m->noise);
    }
    return joules > 1e-12 ? joules : 1e-12;
}

INLINE void spend(Ledger *l, i64 o, Outcome did, double joules) {
    int exponent;
    l->joules[0] += joules;
    l->evaluations[0] += did.evaluations;
    l->decisions[0] += 1;
    l->applications[o] += 1;
    l->operator_joules[o] += joules;
    l->operator_evaluations[o] += did.evaluations;
    l->operator_gain[o] += did.gain;
    double fraction = frexp(joules, &exponent);
    i64 bin = (exponent + 40) * 32 + (i64)((fraction - 0.5) * 64);
    l->histogram[o * 2048 + (bin < 0 ? 0 : bin > 2047 ? 2047 : bin)] += 1;
}

INLINE void record(const Rule *rule, const void *memory, Trace *t, i64 row, i64 o, i64 count,
                   Outcome did, double joules, const Ledger *l, double best) {
    t->decision[row] = l->decisions[0];
    t->operator[row] = o;
    t->gain[row] = did.gain;
    t->joules[row] = joules;
    t->spent[row] = l->joules[0];
    t->evaluations[row] = l->evaluations[0];
    t->best[row] = best;
    for (i64 k = 0; k < count; k++) {
        t->applications[row * count + k] = l->applications[k];
        t->operator_joules[row * count + k] = l->operator_joules[k];
        rule->belief(memory, k, t->beliefs + 5 * (row * count + k));
    }
}

typedef Outcome (*Apply)(const Methods *, const void *, i64, const void *, i64, void *, u64 *);

INLINE i64 run(const Methods *methods, Apply apply, const Rule *rule, const void *problem,
               const void *algorithm, const i64 *operators, i64 count, void *state,
               const double *best_f, void *memory, const Limits *limits, const Meter *meter,
               Ledger *ledger, const Streams *streams, Trace *trace) {
    i64 rows = 0, n = *(const i64 *)problem;
    for (;;) {
        double left = limits->joules - ledger->joules[0];
        if (left <= 0.0 || rows == trace->size) return rows;
        i64 o = rule->select(memory, count, left, streams->picks);
        Outcome did = apply(methods, problem, n, algorithm, operators[o], state, streams->moves);
        double joules = metered(meter, o, did, streams->noise);
        rule->learn(memory, o, did.gain, joules);
        spend(ledger, o, did, joules);
        if (ledger->joules[0] >= ledger->mark[0]) {
            ledger->mark[0] = (floor(ledger->joules[0] / limits->step) + 1.0) * limits->step;
            record(rule, memory, trace, rows++, o, count, did, joules, ledger, best_f[0]);
        }
    }
}

#define LOOP(problem, algorithm, rule)                                                             \
    i64 problem##_##algorithm##_##rule(                                                            \
        const void *p, const void *a, const i64 *operators, i64 count, void *state,               \
        const double *best_f, void *memory, const Limits *limits, const Meter *meter,             \
        Ledger *ledger, const Streams *streams, Trace *trace) {                                   \
        static const Methods methods = {problem##_fitness, problem##_toggle, problem##_value,     \
                                        problem##_preview, problem##_prepare, problem##_memo,      \
                                        problem##_reach};                                          \
        static const Rule rules = {rule##_select, rule##_learn, rule##_belief};                   \
        return run(&methods, algorithm##_apply, &rules, p, a, operators, count, state, best_f,    \
                   memory, limits, meter, ledger, streams, trace);                                \
    }

#define LOOPS(problem)                                                                             \
    LOOP(problem, ssga, eij)                                                                       \
    LOOP(problem, ssga, static)                                                                    \
    LOOP(problem, pso, eij)                                                                        \
    LOOP(problem, pso, static)                                                                     \
    LOOP(problem, ils, eij)                                                                        \
    LOOP(problem, ils, static)

LOOPS(knapsack)
LOOPS(nk)
LOOPS(ecc)
