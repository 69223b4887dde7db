// What the page says while its server cannot be reached, and how it comes back by itself.
(() => {
  const STARTED = "@STARTED@" // of the server that made this page
  const KEPT = 20000 // ms: the server forgets a visitor without a connection after thirty seconds
  const models = () => [...(window.Bokeh?.documents?.[0]?._all_models?.values() ?? [])]
  let lostAt = null
  let retry = null

  function say(words, role) {
    let banner = document.getElementById("connection")
    if (banner == null) {
      banner = document.createElement("div")
      banner.id = "connection"
      document.body.append(banner)
    }
    banner.setAttribute("role", role)
    banner.className = role
    banner.textContent = words
  }

  // Only here, not at the server: it sends everything anew when it is back.
  const show = (model, values) => model.data.setv(values, {sync: false})

  function disconnect() {
    lostAt = Date.now()
    say("The server cannot be reached. What is shown may be out of date. Trying to connect again…", "alert")
    for (const model of models()) {
      if (typeof model.data?.disabled == "boolean") show(model, {disabled: true})
      if (model.tags?.includes("stage")) show(model, {label: "Disconnected", color: "error", variant: "filled"})
    }
    look()
  }

  async function look() {
    if (lostAt == null) return
    let found = null
    try {
      const answer = await fetch(new URL("eij-server", location.href), {cache: "no-store"})
      found = answer.ok ? await answer.text() : null
    } catch {}
    if (lostAt == null) return
    if (found != null && (found != STARTED || Date.now() - lostAt > KEPT)) {
      sessionStorage.setItem("eij-returned", found == STARTED ? "line" : "server")
      location.reload()
      return
    }
    if (found != null) retry?.()
    setTimeout(look, 500)
  }

  function connect(document_) {
    document_.on_event("connection_lost", (_, event) => {
      retry = () => event.reconnect()
      if (lostAt == null) disconnect()
    })
    document_.on_event("client_reconnected", () => {
      lostAt = null
      document.getElementById("connection")?.remove()
    })
  }

  function greet() {
    const why = sessionStorage.getItem("eij-returned")
    if (why == null) return
    sessionStorage.removeItem("eij-returned")
    const what = why == "server" ? "The server was started anew." : "The line to the server was lost for long."
    say(`${what} Your settings are back; press Run to run them again.`, "status")
    document.addEventListener("click", () => document.getElementById("connection")?.remove(), {once: true})
  }

  function start() {
    const document_ = window.Bokeh?.documents?.[0]
    if (document_ == null) return setTimeout(start, 50)
    connect(document_)
    greet()
  }
  start()
})();
