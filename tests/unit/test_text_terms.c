#include "analyser_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

static void print_term(void *ctx, const struct term *t)
{
	buf_printf(ctx, "%s%u%c%.*s", ((struct buf *)ctx)->len ? " " : "", t->position,
		"=~*+"[t->form], t -> len, t -> text);
}

/* Each term as position, form (= word, ~ stem, * whole, + part), text. */
static void check(const char *text, const char *wanted)
{
	struct buf b = { 0 };
	analyser_run(an, str_of(text), print_term, &b);
	assert_string_equal(buf_cstr(&b), wanted);
	buf_done(&b);
}

static void words_are_folded_and_stripped_of_their_marks(void **state)
{
	check("Über STRASSE ﬁle", "0=uber 1=strasse 1~strass 2=file");
	check("straße", "0=strasse");
	check("cœur", "0=coeur");
}

static void words_carry_the_stem_of_the_texts_language(void **state)
{
	check("fixing the tests", "0=fixing 0~fix 1=the 2=tests 2~test");
	check("les connexions de la base",
		"0=les 0~le 1=connexions 1~connex 2=de 3=la 4=base 4~bas");
}

static void an_accent_helps_its_stem(void **state)
{
	check("elle est utilisée dans le code",
		"0=elle 1=est 2=utilisee 2~utilis 3=dans 3~dan 4=le 5=code 5~cod");
}

static void identifiers_are_kept_whole_and_parted(void **state)
{
	check("getUserName", "0*getusername 0+get 1+user 2+name");
	check("HTTPServer", "0*httpserver 0+http 1+server");
	check("user_name", "0*user_name 0+user 1+name");
	check("utf8", "0*utf8 0+utf 1+8");
	check("__init__", "0=init");
}

static void short_mixes_of_letters_and_digits_stay_together(void **state)
{
	check("k8s v2 3fa85f64", "0=k8s 1=v2 2=3fa85f64");
}

static void paths_are_kept_whole_and_parted_and_their_names_too(void **state)
{
	check("src/parser/lex_item.c:214", "0*src/parser/lex_item.c 0+src 1+parser 1~pars "
					   "2*lex_item.c 2*lex_item 2+lex 3+item 4+c 5=214");
}

static void numbers_with_dots_and_dashes_are_one_word(void **state)
{
	check("1.2.3 2026-11-29", "0=1.2.3 1=2026-11-29");
}

static void quotes_and_dots_part_words(void **state)
{
	check("l'index l’index end.", "0=l 1=index 2=l 3=index 4=end");
}

static void names_of_languages_keep_their_signs(void **state)
{
	check("C++ c# f", "0=c++ 1=c# 2=f");
}

static void scripts_without_spaces_give_pairs(void **state)
{
	check("数据库 ok", "0=数据 1=据库 3=ok");
	check("字", "0=字");
}

static void long_words_stay_distinct(void **state)
{
	char one[200], two[200];
	memset(one, 'a', sizeof(one) - 1);
	one[199] = '\0';
	memcpy(two, one, sizeof(one));
	two[198] = 'b';
	struct buf x = { 0 }, y = { 0 };
	analyser_run(an, str_of(one), print_term, &x);
	analyser_run(an, str_of(two), print_term, &y);
	assert_string_not_equal(buf_cstr(&x), buf_cstr(&y));
	assert_int_equal(strlen(buf_cstr(&x)), TERM_MAX + 2);
	buf_done(&x);
	buf_done(&y);
}

static void a_texts_language_is_known_by_its_function_words(void **state)
{
	assert_int_equal(text_language(STR("the parser was broken by this")), LANGUAGE_ENGLISH);
	assert_int_equal(text_language(STR("pourquoi la connexion tombe au bout d'une heure")),
		LANGUAGE_FRENCH);
	assert_int_equal(
		text_language(STR("der Test ist nicht mehr rot und das war es")), LANGUAGE_GERMAN);
	assert_int_equal(text_language(STR("")), LANGUAGE_ENGLISH);
}

static void function_words_of_two_languages_are_known(void **state)
{
	assert_true(term_is_stop_word("the", 3));
	assert_true(term_is_stop_word("les", 3));
	assert_false(term_is_stop_word("car", 3));
	assert_false(term_is_stop_word("parser", 6));
	assert_false(term_is_stop_word("", 0));
}

static void check_span(void *ctx, const struct term *t)
{
	struct str *text = ctx;
	assert_true(t->start < t->end && t->end <= text->n);
	assert_true(t->len > 0 && t->len <= TERM_MAX);
	assert_true(utf8_is_valid(t->text, t->len));
}

static void any_bytes_give_terms_inside_the_text(void **state)
{
	static const char *const pieces[] = { "a", "B", "9", "_", "/", ".", "-", " ", "é", "数",
		"ß", "\xff", "\xf0\x9f", "ﷺ", "İ", "\n" };
	uint32_t seed = 1;
	char text[600];
	for (int round = 0; round < 3000; round++) {
		size_t n = 0;
		while (n < sizeof(text) - 24 && n < (size_t)round) {
			seed = seed * 1664525 + 1013904223;
			const char *p = pieces[(seed >> 24) % ARRAY_LEN(pieces)];
			memcpy(text + n, p, strlen(p));
			n += strlen(p);
		}
		struct str s = { text, n };
		analyser_run(an, s, check_span, &s);
	}
}

struct looked {
	struct str term;
	uint32_t times, sum; /* how often, and where */
};

static void count_term(void *ctx, const struct term *t)
{
	struct looked *l = ctx;
	if (t->len != l->term.n || memcmp(t->text, l->term.p, t->len) != 0)
		return;
	l->times++;
	l->sum += t->position * 31 + t->start;
}

struct looking {
	struct str text;
	struct analyser *second;
	unsigned terms;
};

/* Alone among what is looked for, it is found as often as among all terms. */
static void look_for(void *ctx, const struct term *t)
{
	struct looking *l = ctx;
	struct looked all = { .term = { t->text, t->len } }, one = all;
	struct wanted_terms wanted;
	wanted_terms_init(&wanted, &all.term, 1);
	analyser_run(l->second, l->text, count_term, &all);
	analyser_look(l->second, l->text, &wanted, count_term, &one);
	assert_true(all.times > 0);
	assert_int_equal(one.times, all.times);
	assert_int_equal(one.sum, all.sum);
	l->terms++;
}

static void what_is_looked_for_is_found_wherever_it_is(void **state)
{
	static const char *const texts[] = {
		"Publications, nationalization, generalities and rationalism; trying, happily, "
		"yearly, "
		"conditioning organizers, argumentations. The dying were lying while tying skies, "
		"idly and gently, only early; an ugly news "
		"howe singly, cries by flying ponies in getUserName of src/lex_item.c, C++ and c# "
		"k8s x y sky say says essays eyed oyez ayes",
		"La publication des généralisations, la psychologie, chevaux et bateaux; "
		"naturellement, "
		"fréquemment les travailleuses égyptiennes étudiaient. Les yeux des enfants "
		"étaient ouverts, nous ayons essuyé l'œuvre où l'été égaya les "
		"naïfs; ils rayaient les voyages et les moyens, ça et là, un âne aîné bâillait",
		"Geschwindigkeiten und Verständlichkeiten, die Möglichkeiten; aufgeräumten Häusern "
		"ist. "
		"Die Bücher der Straße waren übel, und die Äpfel hatten ein Öl, das nicht für "
		"Mäuse "
		"ist; sie müssen yoga und ihre Ypsilons ißt",
	};
	struct looking l = { .second = analyser_new() };
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		l.text = str_of(texts[i]);
		analyser_run(an, l.text, look_for, &l);
	}
	assert_true(l.terms > 100);
	analyser_free(l.second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_folded_and_stripped_of_their_marks),
		cmocka_unit_test(words_carry_the_stem_of_the_texts_language),
		cmocka_unit_test(an_accent_helps_its_stem),
		cmocka_unit_test(identifiers_are_kept_whole_and_parted),
		cmocka_unit_test(short_mixes_of_letters_and_digits_stay_together),
		cmocka_unit_test(paths_are_kept_whole_and_parted_and_their_names_too),
		cmocka_unit_test(numbers_with_dots_and_dashes_are_one_word),
		cmocka_unit_test(quotes_and_dots_part_words),
		cmocka_unit_test(names_of_languages_keep_their_signs),
		cmocka_unit_test(scripts_without_spaces_give_pairs),
		cmocka_unit_test(long_words_stay_distinct),
		cmocka_unit_test(a_texts_language_is_known_by_its_function_words),
		cmocka_unit_test(function_words_of_two_languages_are_known),
		cmocka_unit_test(any_bytes_give_terms_inside_the_text),
		cmocka_unit_test(what_is_looked_for_is_found_wherever_it_is),
	};
	return cmocka_run_group_tests(tests, analyser_open, analyser_close);
}
