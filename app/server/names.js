// Names and roles that Material's components leave out, for screen readers; and Enter in a number.
(() => {
  const text = element => element?.textContent?.trim() ?? ""

  function* walk(root) {
    for (const element of root.querySelectorAll("*")) {
      yield element
      if (element.shadowRoot) yield* walk(element.shadowRoot)
    }
  }

  function name(element) {
    if (element.matches(".MuiInputAdornment-root > button:not([aria-label])")) {
      const way = element.parentElement.matches(".MuiInputAdornment-positionStart") ? "less" : "more"
      const field = text(element.closest(".MuiFormControl-root")?.querySelector("label"))
      element.setAttribute("aria-label", `${field}: ${way}`)
    } else if (element.matches("[role=progressbar]:not([aria-label])")) {
      element.setAttribute("aria-label", "Progress")
    } else if (element.matches("span[aria-label]:not([role])")) {
      element.setAttribute("role", "img") // the sign beside a label, whose tooltip explains it
    } else if (element.matches("[aria-label='Resize sidebar']:not([role])")) {
      element.setAttribute("role", "separator")
    } else if (element.matches("header .title:not([role])")) {
      element.setAttribute("role", "heading")
      element.setAttribute("aria-level", "1")
    } else if (element.matches("h5:not([role])") && text(element) == "") {
      element.setAttribute("role", "presentation") // it only keeps room for the bar above
    }
  }

  setInterval(() => { for (const element of walk(document)) name(element) }, 1500)

  // A number is taken when its field is left; after Enter what is typed next would not be.
  document.addEventListener("keydown", event => {
    const field = event.composedPath()[0]
    if (event.key == "Enter" && field.matches?.("input[inputmode=decimal], .MuiInputBase-adornedStart input")) {
      setTimeout(() => field.blur())
    }
  })
})();
