// Save a figure as a PNG or SVG file, with its title: it says how the Joules are known.
const hidden = !figure.title.visible
const save = async () => {
    const view = Bokeh.index.find_one_by_id(figure.id)
    if (hidden) {
        figure.title.setv({visible: true}, {sync: false})
        await view.ready
        await new Promise(done => setTimeout(done, 100))
    }
    const blob = await view.export(kind).to_blob()
    if (hidden) figure.title.setv({visible: false}, {sync: false})
    const link = document.createElement("a")
    link.href = URL.createObjectURL(blob)
    link.download = `eij-${figure.name}.${kind}`
    link.click()
    URL.revokeObjectURL(link.href)
}
save()
