// The table of runs: sorted, filtered and ticked here; the server sends rows and hears of choices.
const HEADS = [
  ["name", "Run"], ["state", "State"], ["problem", "Problem"], ["algorithm", "Algorithm"],
  ["rule", "Rule"], ["best", "Best"], ["joules", "Joules"], ["points", "Course"], ["date", "Date"],
]
const NUMERIC = new Set(["best", "joules", "date"])
const SVG = "http://www.w3.org/2000/svg"

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children)
  return made
}

function set(node, text) {
  if (node.textContent !== text) node.textContent = text
}

function dated(seconds) {
  const date = new Date(1000 * seconds), now = new Date()
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
  if (date.toDateString() === now.toDateString()) return `today ${time}`
  const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric"
  return `${date.toLocaleDateString([], { day: "numeric", month: "short", year })} ${time}`
}

// The course of a run: best against Joules, without the steep beginning.
function spark(cell, points, sense) {
  const key = JSON.stringify(points)
  if (cell.dataset.key === key) return
  cell.dataset.key = key
  cell.replaceChildren()
  const end = points.length ? points[points.length - 1][0] : 0
  const good = points.filter(([x, y]) => y !== null)
  const shown = good.filter(([x]) => x >= 0.03 * end)
  if (good.length < 2 || shown.length < 1 || end <= 0) return
  const ys = shown.map(([, y]) => y)
  const low = Math.min(...ys), high = Math.max(...ys), span = high - low || 1
  const place = ([x, y]) => {
    const height = Math.min(1.2, Math.max(-0.2, (y - low) / span))
    return `${(2 + 92 * x / end).toFixed(1)},${(22 - 19 * height).toFixed(1)}`
  }
  const steps = good.flatMap((p, i) => (i ? [place([p[0], good[i - 1][1]]), place(p)] : [place(p)]))
  const svg = document.createElementNS(SVG, "svg")
  svg.setAttribute("viewBox", "0 0 96 25")
  svg.setAttribute("aria-hidden", "true")
  const line = document.createElementNS(SVG, "polyline")
  line.setAttribute("points", steps.join(" "))
  svg.append(line)
  cell.append(svg)
}

export function render({ model }) {
  let order = ["", true]
  let words = "", state = ""
  const lines = new Map()
  const search = element("input", {
    type: "search", placeholder: "Filter: problem, rule, name…", "aria-label": "Filter runs",
  })
  const states = element("select", { "aria-label": "State" })
  for (const [value, label] of [["", "all states"], ...["running", "finished", "stopped",
    "interrupted", "failed"].map(name => [name, name])])
    states.append(element("option", { value }, label))
  const told = element("span", { class: "told", role: "status" })
  const all = element("input", { type: "checkbox", "aria-label": "Select all runs shown" })
  const headings = new Map()
  const head = element("tr", {}, element("th", { class: "tick" }, all))
  for (const [key, label] of HEADS) {
    const button = element("button", { type: "button" }, label)
    const cell = element("th", { class: `of-${key}`, scope: "col" }, key === "points" ? label : button)
    button.onclick = () => {
      const first = !NUMERIC.has(key)
      order = order[0] === key ? [key, !order[1]] : [key, first]
      draw()
    }
    headings.set(key, cell)
    head.append(cell)
  }
  const body = element("tbody")
  const table = element("table", {}, element("thead", {}, head), body)
  const root = element("div", { class: "runs" },
    element("div", { class: "tools" }, search, states, told), element("div", { class: "scroll" }, table))

  const ticked = () => new Set(model.selected)

  function tick(name, on) {
    const chosen = ticked()
    if (on) chosen.add(name)
    else chosen.delete(name)
    model.selected = [...chosen]
    draw()
  }

  function lineOf(row) {
    if (lines.has(row.name)) return lines.get(row.name)
    const box = element("input", { type: "checkbox", "aria-label": `Select ${row.name}` })
    box.onchange = () => tick(row.name, box.checked)
    const query = new URLSearchParams({ page: "runs", open: row.name })
    const link = element("a", { href: `?${query}` }, row.name)
    link.onclick = event => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return
      event.preventDefault()
      model.asked = [row.name, Date.now()]
    }
    const line = element("tr", {}, element("td", { class: "tick" }, box))
    const cells = {}
    for (const [key] of HEADS) {
      cells[key] = element("td", { class: `of-${key}` })
      line.append(cells[key])
    }
    cells.name.append(link)
    cells.badge = element("span", { class: "badge" })
    cells.share = element("i")
    cells.state.append(cells.badge, element("span", { class: "bar" }, cells.share))
    cells.joule = element("span")
    cells.provenance = element("small")
    cells.joules.append(cells.joule, " ", cells.provenance)
    lines.set(row.name, { line, cells, box })
    return lines.get(row.name)
  }

  function write({ line, cells, box }, row, chosen) {
    line.className = `${row.state}${chosen.has(row.name) ? " chosen" : ""}`
    box.checked = chosen.has(row.name)
    set(cells.badge, row.state === "running" && row.progress !== null
      ? `running ${Math.round(100 * row.progress)} %` : row.state)
    cells.badge.title = row.reason
    cells.share.style.width = `${100 * (row.progress ?? 0)}%`
    for (const key of ["problem", "algorithm", "rule"]) set(cells[key], row[key])
    cells.problem.title = row.task
    set(cells.best, row.best_text)
    cells.best.title = row.sense === "min" ? "smaller is better" : "larger is better"
    set(cells.joule, row.joules_text)
    set(cells.provenance, row.provenance)
    set(cells.date, dated(row.date))
    spark(cells.points, row.points, row.sense)
  }

  function compared(a, b) {
    const [key, up] = order
    if (!key) return 0 // as they come: what runs first, then the newest
    const [x, y] = [a[key], b[key]]
    if (x === null || y === null) return (x === null) - (y === null)
    const less = NUMERIC.has(key) ? x - y : String(x).localeCompare(String(y), [], { numeric: true })
    return up ? less : -less
  }

  function draw() {
    const chosen = ticked()
    const rows = model.rows
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
    const text = row => `${row.name} ${row.task} ${row.problem} ${row.algorithm} ${row.rule} ${row.state} `
      .concat(row.provenance).toLowerCase()
    const shown = rows
      .filter(row => (!state || row.state === state) && wanted.every(word => text(row).includes(word)))
      .sort(compared)
    const names = new Set(rows.map(row => row.name))
    for (const [name, { line }] of lines)
      if (!names.has(name)) { line.remove(); lines.delete(name) }
    const wantedLines = shown.map(row => {
      const found = lineOf(row)
      write(found, row, chosen)
      return found.line
    })
    // Lines that are where they belong stay: the keyboard's focus is on one of them.
    const kept = new Set(wantedLines)
    for (const line of [...body.children]) if (!kept.has(line)) line.remove()
    wantedLines.forEach((line, i) => { if (body.children[i] !== line) body.insertBefore(line, body.children[i] ?? null) })
    for (const [key, cell] of headings) {
      if (order[0] === key) cell.setAttribute("aria-sort", order[1] ? "ascending" : "descending")
      else cell.removeAttribute("aria-sort")
    }
    all.checked = shown.length > 0 && shown.every(row => chosen.has(row.name))
    const count = chosen.size ? `${chosen.size} selected` : ""
    const total = rows.length === 1 ? "1 run" : `${rows.length} runs`
    const some = shown.length < rows.length ? `${shown.length} of ${total}` : total
    set(told, [some, count].filter(Boolean).join(" · "))
    all.onchange = () => {
      const others = [...chosen].filter(name => !shown.some(row => row.name === name))
      model.selected = all.checked ? [...others, ...shown.map(row => row.name)] : others
      draw()
    }
  }

  search.oninput = () => { words = search.value; draw() }
  states.onchange = () => { state = states.value; draw() }
  model.on("rows", draw)
  model.on("selected", draw)
  draw()
  return root
}
