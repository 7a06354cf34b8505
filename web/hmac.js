// HMAC-SHA-256 of texts, in hex.  The browser's own is not there on pages that are
// neither encrypted nor at this machine's own address.

const k = new Uint32Array(64), start = new Uint32Array(8);
for (let n = 2, found = 0; found < 64; n++) {
	let prime = true;
	for (let d = 2; d * d <= n; d++) if (n % d === 0) { prime = false; break; }
	if (!prime) continue;
	const part = x => (x - Math.floor(x)) * 2 ** 32;
	if (found < 8) start[found] = part(Math.sqrt(n));
	k[found++] = part(Math.cbrt(n));
}

function block(state, w) {
	const turn = (x, n) => (x >>> n) | (x << (32 - n));
	for (let i = 16; i < 64; i++) {
		const a = w[i - 15], b = w[i - 2];
		w[i] = w[i - 16] + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
	}
	let [a, b, c, d, e, f, g, h] = state;
	for (let i = 0; i < 64; i++) {
		const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) | 0;
		const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
		h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0;
	}
	[a, b, c, d, e, f, g, h].forEach((x, i) => { state[i] += x; });
}

function sha256(bytes) {
	const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64), view = new DataView(padded.buffer);
	padded.set(bytes);
	padded[bytes.length] = 0x80;
	view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
	view.setUint32(padded.length - 4, bytes.length << 3);
	const state = Uint32Array.from(start), w = new Uint32Array(64);
	for (let at = 0; at < padded.length; at += 64) {
		for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i);
		block(state, w);
	}
	const out = new Uint8Array(32);
	state.forEach((x, i) => new DataView(out.buffer).setUint32(4 * i, x));
	return out;
}

const join = (a, b) => { const all = new Uint8Array(a.length + b.length); all.set(a); all.set(b, a.length); return all; };
const hex = bytes => Array.from(bytes, b => b.toString(16).padStart(2, '0')).join('');

export function hmac(key, text) {
	const utf8 = new TextEncoder(), short = utf8.encode(key), full = new Uint8Array(64);
	full.set(short.length > 64 ? sha256(short) : short);
	const inner = sha256(join(full.map(b => b ^ 0x36), utf8.encode(text)));
	return hex(sha256(join(full.map(b => b ^ 0x5c), inner)));
}

export const chance = () => hex(crypto.getRandomValues(new Uint8Array(32)));
