// Bokeh writes −1.500e+7; people write −1.5×10⁷.
if (tick == 0) return "0"
const size = Math.abs(tick)
if (size >= 1e-3 && size < 1e5) return String(Number(tick.toPrecision(4))).replace("-", "−")
const [mantissa, exponent] = tick.toExponential(2).split("e")
const raise = c => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]
const raised = String(Number(exponent)).replace(/./g, raise)
return (Number(mantissa) + "×10" + raised).replace("-", "−")
