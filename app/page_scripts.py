"""What the page of a notebook is given: a style for icons, and cures for messages and focus."""

from __future__ import annotations

__all__ = ["FOCUS", "ICONS", "MESSAGES"]

ICONS = """
.material-icons { font-family: "Material Icons" }
.material-icons-outlined { font-family: "Material Icons Outlined" }
.material-icons, .material-icons-outlined {
  font-style: normal; font-weight: normal; line-height: 1; letter-spacing: normal;
  text-transform: none; white-space: nowrap; direction: ltr; font-feature-settings: "liga";
}
"""

# Three faults that lose changes or hold them up. Whatever is not found where it is looked for stays
# as it is: then widgets work as Panel and jupyter_bokeh have them, with the faults.
# 1. What came from the kernel goes back to it: Panel's manager of messages (1.9.4) and
#    jupyter_bokeh (4.1.0) return every change, and a kernel that was busy meanwhile takes the old
#    news for the reader's wish. Bokeh marks such changes, for its own server; here nobody is told
#    of them. Roots and titles are told as ever, since pages draw by them.
# 2. Panel's manager throws away what arrives before the page has drawn the widget. Here it waits.
# 3. It greets the kernel at once, before JupyterLab (4.6) has opened the line that is served while
#    a cell is busy: after "Run All" a widget would stand still until the last cell is done.
MESSAGES = """
{
  const mend = (find, change, patience = 60000) => {
    let found = null
    try {
      found = find()
    } catch { }  // not loaded yet, or kept elsewhere
    if (found != null) {
      if (!found.eij_mended) change(found)
      found.eij_mended = true
    } else if (patience > 0) {
      setTimeout(mend, 20, find, change, patience - 20)
    }
  }

  mend(() => window.Bokeh.require("document").Document.prototype, (document) => {
    const {_trigger_on_change: tell} = document
    if (tell == null) return
    const changes = ["ModelChanged", "ColumnDataChanged", "ColumnsStreamed", "ColumnsPatched"]
    const is_echo = (event) => event.sync === false && changes.includes(event.kind)
    document._trigger_on_change = function (event) {
      if (!(event.events ?? [event]).every(is_echo)) tell.call(this, event)
    }
  })

  const models = () => window.Bokeh.require("base").default_resolver
  const name = "panel.models.comm_manager.CommManager"
  mend(() => models().get(name).prototype, (manager) => {
    const {msg_handler: hear} = manager
    if (hear == null) return
    const deliver = (self, waiting) => {
      const id = self.plot_id
      if (id in window.Bokeh.index || self.ns.plot_index[id] != null) {
        while (waiting.length != 0) {
          try {
            hear.call(self, waiting[0])
          } catch (error) {
            console.error(error)
          }
          waiting.shift()
        }
      } else if (self.document != null) {
        setTimeout(deliver, 50, self, waiting)
      }
    }
    manager.msg_handler = function (message) {
      const waiting = (this.eij_waiting ??= [])
      waiting.push(message)
      if (waiting.length == 1) deliver(this, waiting)
    }
  })

  const patiently = (kernel) => {
    const {connectToComm: connect} = kernel
    if (connect == null) return
    kernel.connectToComm = function (...names) {
      const comm = connect.apply(this, names)
      const {open} = comm
      comm.open = (...greeting) => setTimeout(() => open.apply(comm, greeting), 300)
      return comm
    }
  }
  mend(() => window.PyViz.kernels && window.PyViz, (pyviz) => {
    pyviz.kernels = new Proxy(pyviz.kernels, {
      set(kernels, plot, kernel) {
        patiently(kernel)
        return Reflect.set(kernels, plot, kernel)
      },
    })
  })
}
"""

# A widget keeps the focus in its shadow, where JupyterLab cannot see it: after a click on one of
# its buttons, a cell picked by its margin would not hear Shift+Enter.
FOCUS = """
if (!window.eij_focus) {
  window.eij_focus = true
  document.addEventListener("mousedown", (event) => {
    let holder = document.activeElement
    if (!holder?.shadowRoot || event.composedPath().includes(holder)) return
    while (holder.shadowRoot?.activeElement) holder = holder.shadowRoot.activeElement
    holder.blur()
  }, true)
}
"""
