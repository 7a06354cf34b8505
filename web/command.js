// Commands as a shell takes them, and a button that copies text.
import { h, say } from './dom.js';

// As `stint` quotes in its own output.
const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
export const shellText = words => words.map(quoted).join(' ');

// Browsers give the clipboard to https and to this machine only; the selection is a way for all of them.
async function copy(text) {
	try { await navigator.clipboard.writeText(text); return true; } catch { /* the other way, then */ }
	const field = h('textarea', { className: 'hidden', 'aria-hidden': 'true', readonly: true });
	field.value = text;
	const before = document.activeElement;
	document.body.append(field);
	field.select();
	const done = document.execCommand('copy');
	field.remove();
	before?.focus({ preventScroll: true });
	return done;
}

export function copyButton(what, text) {
	return h('button', { type: 'button', className: 'copy', 'aria-label': 'Copy ' + what, onclick: async () => say(await copy(text()) ? 'Copied.' : 'The browser does not let this page copy.') }, 'Copy');
}

// A command to be copied: the text scrolls or wraps, the button stays.
export function commandLine(what, text, id) {
	return h('div', { className: 'command' }, h('code', { className: 'mono', id }, text), copyButton(what, () => text));
}
