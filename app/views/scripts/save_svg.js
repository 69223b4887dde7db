// Save a figure as an SVG file.
Bokeh.index.find_one_by_id(figure.id).export("svg").to_blob().then(blob => {
    const link = document.createElement("a")
    link.href = URL.createObjectURL(blob)
    link.download = "eij-" + figure.name + ".svg"
    link.click()
    URL.revokeObjectURL(link.href)
})
