/*
 * The whole input is at hand, so there is no running state to keep: full blocks straight from the
 * input, then one or two blocks with the rest, the end mark and the length.
 */
#include "embed/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 64
#define WORDS 8

static const uint32_t round_constants[64] = {
	0x428a2f98,
	0x71374491,
	0xb5c0fbcf,
	0xe9b5dba5,
	0x3956c25b,
	0x59f111f1,
	0x923f82a4,
	0xab1c5ed5,
	0xd807aa98,
	0x12835b01,
	0x243185be,
	0x550c7dc3,
	0x72be5d74,
	0x80deb1fe,
	0x9bdc06a7,
	0xc19bf174,
	0xe49b69c1,
	0xefbe4786,
	0x0fc19dc6,
	0x240ca1cc,
	0x2de92c6f,
	0x4a7484aa,
	0x5cb0a9dc,
	0x76f988da,
	0x983e5152,
	0xa831c66d,
	0xb00327c8,
	0xbf597fc7,
	0xc6e00bf3,
	0xd5a79147,
	0x06ca6351,
	0x14292967,
	0x27b70a85,
	0x2e1b2138,
	0x4d2c6dfc,
	0x53380d13,
	0x650a7354,
	0x766a0abb,
	0x81c2c92e,
	0x92722c85,
	0xa2bfe8a1,
	0xa81a664b,
	0xc24b8b70,
	0xc76c51a3,
	0xd192e819,
	0xd6990624,
	0xf40e3585,
	0x106aa070,
	0x19a4c116,
	0x1e376c08,
	0x2748774c,
	0x34b0bcb5,
	0x391c0cb3,
	0x4ed8aa4a,
	0x5b9cca4f,
	0x682e6ff3,
	0x748f82ee,
	0x78a5636f,
	0x84c87814,
	0x8cc70208,
	0x90befffa,
	0xa4506ceb,
	0xbef9a3f7,
	0xc67178f2,
};

static uint32_t turn(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static uint32_t load_big(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void schedule(uint32_t w[64], const unsigned char *p)
{
	for (int i = 0; i < 16; i++)
		w[i] = load_big(p + 4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		uint32_t s0 = turn(a, 7) ^ turn(a, 18) ^ a >> 3;
		uint32_t s1 = turn(b, 17) ^ turn(b, 19) ^ b >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

static void mix(uint32_t h[WORDS], const unsigned char *p)
{
	uint32_t w[64], s[WORDS];

	schedule(w, p);
	memcpy(s, h, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t e = s[4], a = s[0];
		uint32_t choice = (e & s[5]) ^ (~e & s[6]);
		uint32_t majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
		uint32_t t1 = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice +
			      round_constants[i] + w[i];
		uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority;

		memmove(s + 1, s, sizeof(s) - sizeof(s[0]));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < WORDS; i++)
		h[i] += s[i];
}

void sha256_hex(const void *data, size_t len, char ret[SHA256_HEX])
{
	uint32_t h[WORDS] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
		0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	unsigned char last[2 * BLOCK] = { 0 };
	const unsigned char *p = data;
	size_t rest = len % BLOCK, size = rest + 9 > BLOCK ? 2 * BLOCK : BLOCK;

	for (size_t i = 0; i + BLOCK <= len; i += BLOCK)
		mix(h, p + i);
	if (rest)
		memcpy(last, p + len - rest, rest);
	last[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		last[size - 1 - (size_t)i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
	for (size_t i = 0; i < size; i += BLOCK)
		mix(h, last + i);
	for (int i = 0; i < WORDS; i++)
		snprintf(ret + 8 * i, SHA256_HEX - 8 * (size_t)i, "%08x", (unsigned)h[i]);
}
