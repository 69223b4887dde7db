// An application takes a microjoule with one meter and ten Joules with another: the unit follows
// the largest tick.
const largest = Math.max(...ticks.map(Math.abs))
const [unit, size] = [["J", 1], ["mJ", 1e-3], ["µJ", 1e-6]].find(([, size]) => largest >= size)
    ?? ["nJ", 1e-9]
return tick == 0 ? "0" : `${Number((tick / size).toPrecision(4))} ${unit}`
