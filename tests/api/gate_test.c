#include "api/gate.h"

#include <string.h>

#include "support/property.h"

static const struct {
	const char *host;
	uint16_t port;
	bool exposed, want;
} hosts[] = {
	{ "localhost:4321", 4321, false, true },
	{ "LocalHost:4321", 4321, false, true },
	{ "127.0.0.1:4321", 4321, false, true },
	{ "[::1]:4321", 4321, false, true },
	{ "localhost", 80, false, true },
	{ "[::1]", 80, false, true },
	{ "localhost", 4321, false, false },
	{ "[::1]", 4321, false, false },
	{ "localhost:4322", 4321, false, false },
	{ "localhost:", 4321, false, false },
	{ "localhost:04321x", 4321, false, false },
	{ "localhost: 4321", 4321, false, false },
	{ "localhost:69857", 4321, false, false },
	{ "", 4321, false, false },
	{ ":4321", 4321, false, false },
	{ "localhost.:4321", 4321, false, false },
	{ "a.localhost:4321", 4321, false, false },
	{ "user@localhost:4321", 4321, false, false },
	{ "127.0.0.1.evil.example:4321", 4321, false, false },
	{ "10.1.2.3:4321", 4321, false, false },
	{ "10.1.2.3:4321", 4321, true, true },
	{ "[fe80::1]:4321", 4321, true, true },
	{ "evil.example:4321", 4321, true, false },
	{ "10.1.2:4321", 4321, true, false },
	{ "[]:4321", 4321, true, false },
};

static void only_our_own_names_are_hosts(void **state)
{
	(void)state;
	assert_false(gate_host(NULL, 4321, true));
	for (size_t i = 0; i < COUNT(hosts); i++) {
		if (gate_host(hosts[i].host, hosts[i].port, hosts[i].exposed) != hosts[i].want)
			fail_msg("'%s'", hosts[i].host);
	}
}

static void only_our_own_pages_are_origins(void **state)
{
	(void)state;
	assert_true(gate_origin(NULL, "localhost:4321"));
	assert_true(gate_origin("http://localhost:4321", "localhost:4321"));
	assert_false(gate_origin("http://127.0.0.1:4321", "localhost:4321"));
	assert_false(gate_origin("https://localhost:4321", "localhost:4321"));
	assert_false(gate_origin("http://localhost:4321/", "localhost:4321"));
	assert_false(gate_origin("http://localhost:4321.evil.example", "localhost:4321"));
	assert_false(gate_origin("null", "localhost:4321"));
	assert_false(gate_origin("", "localhost:4321"));
	assert_false(gate_origin("http://", NULL));
}

static void only_the_whole_token_is_the_token(void **state)
{
	const char *token = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char given[128];

	(void)state;
	snprintf(given, sizeof(given), "Bearer %s", token);
	assert_true(gate_token(given, token));
	memcpy(given, "bearer", 6);
	assert_true(gate_token(given, token));
	for (size_t i = 7; i < 7 + TOKEN_DIGITS; i++) {
		char was = given[i];

		given[i] = was == '0' ? '1' : '0';
		assert_false(gate_token(given, token));
		given[i] = was;
	}
	strcat(given, "0");
	assert_false(gate_token(given, token));
	given[7 + TOKEN_DIGITS - 1] = '\0';
	assert_false(gate_token(given, token));
	assert_false(gate_token(token, token));
	assert_false(gate_token("Bearer ", token));
	assert_false(gate_token("", token));
	assert_false(gate_token(NULL, token));
}

static void a_peer_may_burst_and_then_as_fast_as_it_drains(void **state)
{
	struct gate_rate rate = { .rate = 10, .burst = 5 };

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_true(gate_rate_take(&rate, 1, 100));
	assert_false(gate_rate_take(&rate, 1, 100));
	assert_true(gate_rate_take(&rate, 2, 100)); /* another peer */
	assert_true(gate_rate_take(&rate, 1, 100.11));
	assert_false(gate_rate_take(&rate, 1, 100.12));
	assert_false(gate_rate_take(&rate, 1, 50)); /* a clock set back gives nothing */
	rate.rate = -1;
	assert_true(gate_rate_take(&rate, 1, 50));
}

static void no_peer_gets_more_than_its_rate(void **state)
{
	struct rng rng = property("over any time, at most burst + rate x time");
	struct gate_rate rate = { .rate = 100, .burst = 20 };
	double now = 0;
	uint32_t taken = 0;

	(void)state;
	for (size_t i = 0; i < rounds(10000); i++) {
		now += (double)rng_below(&rng, 100) / 10000;
		taken += gate_rate_take(&rate, 7, now);
		assert_true(taken <= 20 + 100 * now + 1e-6);
	}
	assert_true(taken > 90 * now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_our_own_names_are_hosts),
		cmocka_unit_test(only_our_own_pages_are_origins),
		cmocka_unit_test(only_the_whole_token_is_the_token),
		cmocka_unit_test(a_peer_may_burst_and_then_as_fast_as_it_drains),
		cmocka_unit_test(no_peer_gets_more_than_its_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
