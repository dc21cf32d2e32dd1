// Fields that a person is typing in: what the loop says must not replace the text.

const typed = new WeakSet<HTMLInputElement>();

/** Notes when a field is being typed in; `left` is called when it is left without a change. */
export function noteTyping(field: HTMLInputElement, left: () => void): void {
  field.addEventListener("input", () => typed.add(field));
  field.addEventListener("change", () => typed.delete(field), { capture: true });
  field.addEventListener("blur", () => typed.delete(field) && left());
}

/** Whether a field holds text that was typed and not entered yet. */
export function isTyped(field: HTMLInputElement): boolean {
  return typed.has(field);
}
