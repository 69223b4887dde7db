// Repairs of three faults that lose or delay changes. A part that is not found in its place stays as
// it is; widgets then work as Panel and jupyter_bokeh make them, with the faults.
// 1. Panel's message manager (1.9.4) and jupyter_bokeh (4.1.0) send every change that came from the
//    kernel back to it, and a kernel that was busy meanwhile takes the old value for the reader's
//    wish. Bokeh marks such changes for its own server; here listeners do not receive them. Changes
//    of roots and titles still reach them, since pages draw by these.
// 2. Panel's manager drops what arrives before the page has drawn the widget; here it waits.
// 3. It opens its connection at once, before JupyterLab (4.6) has opened the subshell that works
//    while a cell is busy: after "Run All" a widget would stand still until the last cell is done.
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
