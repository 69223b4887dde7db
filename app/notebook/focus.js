// A widget keeps the focus in its shadow root, where JupyterLab cannot see it: after a click on one
// of its buttons, a cell selected by its margin would not react to Shift+Enter.
if (!window.eij_focus) {
  window.eij_focus = true
  document.addEventListener("mousedown", (event) => {
    let holder = document.activeElement
    if (!holder?.shadowRoot || event.composedPath().includes(holder)) return
    while (holder.shadowRoot?.activeElement) holder = holder.shadowRoot.activeElement
    holder.blur()
  }, true)
}
