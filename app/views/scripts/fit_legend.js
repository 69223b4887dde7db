// Give the legend as many columns as there is room for.
const places = [cb_obj.above, cb_obj.below, cb_obj.center, cb_obj.left, cb_obj.right].flat()
for (const legend of places.filter(place => place?.type == "Legend")) {
    const longest = Math.max(8, ...legend.items.map(item => (item.label?.value ?? "").length))
    const columns = Math.floor(cb_obj.inner_width / (52 + 7.5 * longest))
    legend.ncols = Math.min(legend.items.length || 1, Math.max(1, columns))
}
