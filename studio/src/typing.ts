// Fields that are being edited: values from the loop must not replace the text.

const typed = new WeakSet<HTMLInputElement>();

/** Notes when a field is being edited; `left` is called when it is left without a change. */
export function noteTyping(field: HTMLInputElement, left: () => void): void {
  field.addEventListener("input", () => typed.add(field));
  field.addEventListener("change", () => typed.delete(field), { capture: true });
  field.addEventListener("blur", () => typed.delete(field) && left());
}

/** Whether a field contains text that was typed but not entered yet. */
export function isTyped(field: HTMLInputElement): boolean {
  return typed.has(field);
}
