/*
 * Short lists in memory, and the texts that are signed.
 */
#include "api/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/listen.h"

int sessions_start(struct sessions *s, struct err *err)
{
	*s = (struct sessions){ 0 };
	return token_make(s->run, err);
}

static void drop(struct sessions *s, uint32_t i)
{
	s->n--;
	memmove(&s->at[i], &s->at[i + 1], (s->n - i) * sizeof(s->at[0]));
	memset(&s->at[s->n], 0, sizeof(s->at[0]));
}

static void drop_code(struct sessions *s, uint32_t i)
{
	s->ncodes--;
	memmove(&s->codes[i], &s->codes[i + 1], (s->ncodes - i) * sizeof(s->codes[0]));
	memset(&s->codes[s->ncodes], 0, sizeof(s->codes[0]));
}

/* ---- signing */

static void add(struct hmac *hmac, const char *text)
{
	hmac_add(hmac, text, strlen(text));
}

/* The texts, each but the last with a line's end; NULL ends them. */
static void sign(const char *key, const char *const texts[], char out[SHA256_DIGITS + 1])
{
	uint8_t digest[SHA256_BYTES];
	struct hmac hmac;

	hmac_begin(&hmac, key, strlen(key));
	for (size_t i = 0; texts[i]; i++) {
		add(&hmac, i ? "\n" : "");
		add(&hmac, texts[i]);
	}
	hmac_end(&hmac, digest);
	sha256_hex(digest, out);
}

void login_sign(const char *secret, const char *what, const struct login_talk *talk,
	char out[SHA256_DIGITS + 1])
{
	sign(secret, (const char *const[]){ what, talk->host, talk->nonce, talk->challenge, NULL },
		out);
}

void session_sign(const char *key, const char *method, const char *target, char out[SHA256_DIGITS + 1])
{
	sign(key, (const char *const[]){ method, target, NULL }, out);
}

bool sign_same(const char *given, const char want[SHA256_DIGITS + 1])
{
	return given && gate_same(given, want);
}

/* ---- challenges */

/* When it was made, and a signature that only we can make. */
static void challenge_at(const struct sessions *s, const struct login_talk *talk, const char *when,
	char out[CHALLENGE_DIGITS + 1])
{
	char mac[SHA256_DIGITS + 1];

	sign(s->run, (const char *const[]){ when, talk->host, talk->nonce, talk->about, NULL }, mac);
	snprintf(out, CHALLENGE_DIGITS + 1, "%.16s%s", when, mac);
}

void sessions_challenge(const struct sessions *s, const struct login_talk *talk, double now_s,
	char out[CHALLENGE_DIGITS + 1])
{
	char when[32];

	snprintf(when, sizeof(when), "%016llx", (unsigned long long)now_s);
	challenge_at(s, talk, when, out);
}

bool sessions_challenged(const struct sessions *s, const struct login_talk *talk, double now_s)
{
	char when[17], want[CHALLENGE_DIGITS + 1];
	double at_s;

	if (!talk->challenge || strlen(talk->challenge) != CHALLENGE_DIGITS)
		return false;
	snprintf(when, sizeof(when), "%.16s", talk->challenge);
	challenge_at(s, talk, when, want);
	if (!sign_same(talk->challenge + 16, want + 16))
		return false;
	at_s = (double)strtoull(when, NULL, 16);
	return at_s <= now_s && now_s - at_s <= SESSION_CHALLENGE_S;
}

/*
 * The oldest of the user who has most: a user who opens many pushes out none of another's.  `first` is the caller in
 * the first of `n` elements of `size` bytes, the oldest first.
 */
static uint32_t oldest_of_most(const struct caller *first, size_t size, uint32_t n)
{
	uint32_t most = 0, best = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct caller *of = (const void *)((const char *)first + i * size);
		uint32_t has = 0;

		for (uint32_t k = i; k < n; k++)
			has += ((const struct caller *)(const void *)((const char *)first + k * size))
					->uid == of->uid;
		if (has > most) {
			most = has;
			best = i;
		}
	}
	return best;
}

/* ---- sessions */

int sessions_begin(struct sessions *s, const char key[SHA256_DIGITS + 1],
	const struct caller *caller, double now_s, const struct session **out, struct err *err)
{
	struct session one = { .caller = *caller, .until_s = now_s + SESSION_S };
	char random[TOKEN_DIGITS + 1];

	if (token_make(random, err) < 0)
		return err ? err->code : ERR_IO;
	memcpy(one.id, random, SESSION_ID_DIGITS);
	memcpy(one.key, key, SHA256_DIGITS);
	if (s->n == SESSIONS_MAX)
		drop(s, oldest_of_most(&s->at[0].caller, sizeof(s->at[0]), s->n));
	s->at[s->n] = one;
	*out = &s->at[s->n++];
	return 0;
}

/* Ids are no secrets: they are sent as they are. */
static int index_of(const struct sessions *s, const char *id, size_t n)
{
	for (uint32_t i = 0; id && n == SESSION_ID_DIGITS && i < s->n; i++) {
		if (!memcmp(id, s->at[i].id, n))
			return (int)i;
	}
	return -1;
}

const struct session *sessions_find(const struct sessions *s, const char *id, double now_s)
{
	int i = id ? index_of(s, id, strlen(id)) : -1;

	return i >= 0 && s->at[i].until_s > now_s ? &s->at[i] : NULL;
}

const struct session *sessions_know(const struct sessions *s, const char *header,
	const char *method, const char *target, double now_s)
{
	char want[SHA256_DIGITS + 1];
	int i = header ? index_of(s, header, strcspn(header, " ")) : -1;

	if (i < 0 || s->at[i].until_s <= now_s || header[SESSION_ID_DIGITS] != ' ')
		return NULL;
	session_sign(s->at[i].key, method, target, want);
	return sign_same(header + SESSION_ID_DIGITS + 1, want) ? &s->at[i] : NULL;
}

void sessions_end(struct sessions *s, const char *header)
{
	int i = header ? index_of(s, header, strcspn(header, " ")) : -1;

	if (i >= 0)
		drop(s, (uint32_t)i);
}

/* ---- codes */

int sessions_code(struct sessions *s, const struct caller *caller, double now_s, const char **out,
	struct err *err)
{
	struct session_code one = { .caller = *caller, .until_s = now_s + SESSION_CODE_S };

	if (token_make(one.text, err) < 0)
		return err ? err->code : ERR_IO;
	if (s->ncodes == SESSION_CODES_MAX)
		drop_code(s, oldest_of_most(&s->codes[0].caller, sizeof(s->codes[0]), s->ncodes));
	s->codes[s->ncodes] = one;
	*out = s->codes[s->ncodes++].text;
	return 0;
}

static int code_index(const struct sessions *s, const char *id)
{
	for (uint32_t i = 0; id && strlen(id) == CODE_ID_DIGITS && i < s->ncodes; i++) {
		if (!memcmp(id, s->codes[i].text, CODE_ID_DIGITS))
			return (int)i;
	}
	return -1;
}

const struct session_code *sessions_find_code(const struct sessions *s, const char *id, double now_s)
{
	int i = code_index(s, id);

	return i >= 0 && s->codes[i].until_s > now_s ? &s->codes[i] : NULL;
}

void sessions_drop_code(struct sessions *s, const char *id)
{
	int i = code_index(s, id);

	if (i >= 0)
		drop_code(s, (uint32_t)i);
}
