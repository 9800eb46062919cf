/*
 * Function words of English, French and German, folded. They tell a text's language, and those of
 * English and French are dropped from questions. Words that carry meaning in another of the
 * languages ("car", "son") are KEPT in questions.
 */

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "text/terms.h"

#define EN (1u << LANGUAGE_ENGLISH)
#define FR (1u << LANGUAGE_FRENCH)
#define DE (1u << LANGUAGE_GERMAN)
#define KEPT 128u

static const struct {
	char word[12];
	unsigned flags;
} stop_words[] = {
	{"a", EN}, {"aber", DE}, {"about", EN}, {"above", EN}, {"after", EN}, {"again", EN},
	{"against", EN}, {"ai", FR}, {"aie", FR}, {"ainsi", FR}, {"all", EN}, {"alors", FR},
	{"als", DE}, {"also", EN}, {"am", EN | DE}, {"an", EN | DE}, {"and", EN}, {"any", EN},
	{"apres", FR}, {"are", EN}, {"aren", EN}, {"as", EN | FR}, {"at", EN}, {"au", FR},
	{"auch", DE}, {"aucun", FR}, {"aucune", FR}, {"auf", DE}, {"aujourd", FR}, {"aupres", FR},
	{"auquel", FR}, {"aus", DE}, {"aussi", FR}, {"autre", FR}, {"autres", FR}, {"aux", FR},
	{"avaient", FR}, {"avais", FR}, {"avait", FR}, {"avant", FR}, {"avec", FR}, {"avez", FR},
	{"avions", FR}, {"avoir", FR}, {"avons", FR}, {"ayant", FR}, {"be", EN}, {"because", EN},
	{"been", EN}, {"before", EN}, {"bei", DE}, {"being", EN}, {"below", EN}, {"between", EN},
	{"bien", FR}, {"bin", DE}, {"bis", DE}, {"bist", DE}, {"both", EN}, {"but", EN}, {"by", EN},
	{"c", FR}, {"ca", FR}, {"can", EN}, {"cannot", EN}, {"car", FR | KEPT}, {"ce", FR},
	{"ceci", FR}, {"cela", FR}, {"celle", FR}, {"celles", FR}, {"celui", FR}, {"ces", FR},
	{"cet", FR}, {"cette", FR}, {"ceux", FR}, {"chez", FR}, {"ci", FR}, {"could", EN},
	{"couldn", EN}, {"d", EN | FR}, {"da", DE}, {"damit", DE}, {"dann", DE}, {"dans", FR},
	{"das", DE}, {"dass", DE}, {"de", FR}, {"dein", DE}, {"dem", DE}, {"den", DE}, {"depuis", FR},
	{"der", DE}, {"des", FR | DE}, {"deux", FR}, {"devant", FR}, {"did", EN}, {"didn", EN},
	{"die", DE}, {"dies", DE}, {"diese", DE}, {"dieser", DE}, {"do", EN}, {"doch", DE},
	{"does", EN}, {"doesn", EN}, {"doing", EN}, {"doit", FR}, {"don", EN}, {"donc", FR},
	{"dont", FR}, {"dort", DE}, {"down", EN}, {"du", FR | DE}, {"durch", DE}, {"during", EN},
	{"each", EN}, {"ein", DE}, {"eine", DE}, {"einem", DE}, {"einen", DE}, {"einer", DE},
	{"eines", DE}, {"elle", FR}, {"elles", FR}, {"en", FR}, {"encore", FR}, {"entre", FR},
	{"er", DE}, {"es", FR | DE}, {"est", FR}, {"et", FR}, {"etaient", FR}, {"etais", FR},
	{"etait", FR}, {"etant", FR}, {"ete", FR}, {"etes", FR}, {"etre", FR}, {"eu", FR},
	{"eux", FR}, {"fait", FR | KEPT}, {"faut", FR}, {"few", EN}, {"fois", FR | KEPT}, {"for", EN},
	{"from", EN}, {"fur", DE}, {"furent", FR}, {"further", EN}, {"h", FR}, {"habe", DE},
	{"haben", DE}, {"had", EN}, {"hadn", EN}, {"has", EN}, {"hasn", EN}, {"hat", DE},
	{"hatte", DE}, {"have", EN}, {"haven", EN}, {"having", EN}, {"he", EN}, {"her", EN},
	{"here", EN}, {"hers", EN}, {"herself", EN}, {"him", EN}, {"himself", EN}, {"his", EN},
	{"hors", FR | KEPT}, {"how", EN}, {"i", EN}, {"ich", DE}, {"ici", FR}, {"if", EN},
	{"ihr", DE}, {"il", FR}, {"ils", FR}, {"im", DE}, {"in", EN | DE}, {"into", EN}, {"is", EN},
	{"isn", EN}, {"ist", DE}, {"it", EN}, {"its", EN}, {"itself", EN}, {"j", FR}, {"ja", DE},
	{"je", FR}, {"jede", DE}, {"jeder", DE}, {"jusqu", FR}, {"just", EN}, {"kann", DE},
	{"kein", DE}, {"keine", DE}, {"konnen", DE}, {"l", FR}, {"la", FR}, {"laquelle", FR},
	{"le", FR}, {"lequel", FR}, {"les", FR}, {"let", EN}, {"leur", FR}, {"leurs", FR}, {"ll", EN},
	{"lors", FR}, {"lorsque", FR}, {"lui", FR}, {"m", EN | FR}, {"ma", FR}, {"mais", FR},
	{"malgre", FR}, {"me", EN}, {"mehr", DE}, {"mein", DE}, {"meme", FR}, {"memes", FR},
	{"mes", FR}, {"mich", DE}, {"mir", DE}, {"mit", DE}, {"moi", FR}, {"moins", FR}, {"mon", FR},
	{"more", EN}, {"most", EN}, {"my", EN}, {"myself", EN}, {"n", FR}, {"nach", DE}, {"ne", FR},
	{"ni", FR}, {"nicht", DE}, {"no", EN}, {"noch", DE}, {"nor", EN}, {"nos", FR}, {"not", EN},
	{"notre", FR}, {"nous", FR}, {"now", EN}, {"nur", DE}, {"oder", DE}, {"of", EN}, {"off", EN},
	{"ohne", DE}, {"on", EN | FR}, {"once", EN}, {"only", EN}, {"ont", FR}, {"or", EN},
	{"other", EN}, {"ou", FR}, {"our", EN}, {"ours", EN}, {"ourselves", EN}, {"out", EN},
	{"over", EN}, {"own", EN}, {"par", FR}, {"parce", FR}, {"pas", FR}, {"pendant", FR},
	{"peu", FR}, {"peut", FR}, {"peuvent", FR}, {"plus", FR | KEPT}, {"plutot", FR},
	{"pour", FR | KEPT}, {"pourquoi", FR}, {"pourrait", FR}, {"puis", FR}, {"puisque", FR},
	{"qu", FR}, {"quand", FR}, {"que", FR}, {"quel", FR}, {"quelle", FR}, {"quelles", FR},
	{"quelque", FR}, {"quelques", FR}, {"quels", FR}, {"qui", FR}, {"quoi", FR}, {"re", EN},
	{"s", EN | FR}, {"sa", FR}, {"same", EN}, {"sans", FR | KEPT}, {"schon", DE}, {"se", FR},
	{"sehr", DE}, {"sein", DE}, {"sera", FR}, {"serait", FR}, {"ses", FR}, {"she", EN},
	{"should", EN}, {"shouldn", EN}, {"si", FR}, {"sich", DE}, {"sie", DE}, {"sind", DE},
	{"sinon", FR}, {"so", EN | DE}, {"soit", FR}, {"some", EN}, {"sommes", FR},
	{"son", FR | KEPT}, {"sont", FR}, {"sous", FR | KEPT}, {"such", EN}, {"suis", FR},
	{"sur", FR}, {"t", EN | FR}, {"ta", FR}, {"tandis", FR}, {"te", FR}, {"tel", FR | KEPT},
	{"telle", FR}, {"tes", FR}, {"than", EN}, {"that", EN}, {"the", EN}, {"their", EN},
	{"theirs", EN}, {"them", EN}, {"themselves", EN}, {"then", EN}, {"there", EN}, {"these", EN},
	{"they", EN}, {"this", EN}, {"those", EN}, {"through", EN}, {"to", EN}, {"toi", FR},
	{"ton", FR | KEPT}, {"too", EN}, {"tous", FR}, {"tout", FR}, {"toute", FR}, {"toutes", FR},
	{"tres", FR}, {"tu", FR}, {"uber", DE}, {"um", DE}, {"un", FR}, {"und", DE}, {"under", EN},
	{"une", FR}, {"uns", DE}, {"unser", DE}, {"unter", DE}, {"until", EN}, {"up", EN}, {"us", EN},
	{"ve", EN}, {"vers", FR}, {"very", EN}, {"via", FR | KEPT}, {"voici", FR}, {"voila", FR},
	{"vom", DE}, {"von", DE}, {"vor", DE}, {"vos", FR}, {"votre", FR}, {"vous", FR}, {"wann", DE},
	{"war", DE}, {"waren", DE}, {"warum", DE}, {"was", EN | DE}, {"wasn", EN}, {"we", EN},
	{"weil", DE}, {"wenn", DE}, {"wer", DE}, {"werden", DE}, {"were", EN}, {"weren", EN},
	{"what", EN}, {"when", EN}, {"where", EN}, {"which", EN}, {"while", EN}, {"who", EN},
	{"whom", EN}, {"why", EN}, {"wie", DE}, {"wieder", DE}, {"will", EN}, {"wir", DE},
	{"wird", DE}, {"with", EN}, {"wo", DE}, {"won", EN}, {"would", EN}, {"wouldn", EN},
	{"wurde", DE}, {"y", FR}, {"you", EN}, {"your", EN}, {"yours", EN}, {"yourself", EN},
	{"yourselves", EN}, {"zu", DE}, {"zum", DE}, {"zur", DE},
};

#define SLOTS 2048u /* power of two, well above the number of words */

static unsigned short slots[SLOTS]; /* row + 1 */
/* Lengths of those that begin with this letter, a bit each: most words are none of them. */
static unsigned short lengths[256];
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

static unsigned slot_of(const char *s, size_t n)
{
	unsigned h = 2166136261u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return (h ^ (h >> 15)) & (SLOTS - 1);
}

static void fill_slots(void)
{
	for (size_t i = 0; i < ARRAY_LEN(stop_words); i++) {
		unsigned s = slot_of(stop_words[i].word, strlen(stop_words[i].word));
		while (slots[s])
			s = (s + 1) & (SLOTS - 1);
		slots[s] = (unsigned short)(i + 1);
		lengths[(unsigned char)stop_words[i].word[0]] |=
			(unsigned short)(1u << strlen(stop_words[i].word));
	}
}

static unsigned flags_of(const char *folded, size_t len)
{
	if (len == 0 || len >= sizeof(stop_words[0].word))
		return 0;
	pthread_once(&slots_once, fill_slots);
	if (!(lengths[(unsigned char)*folded] >> len & 1))
		return 0;
	for (unsigned s = slot_of(folded, len); slots[s]; s = (s + 1) & (SLOTS - 1)) {
		const char *w = stop_words[slots[s] - 1].word;
		if (!memcmp(w, folded, len) && w[len] == '\0')
			return stop_words[slots[s] - 1].flags;
	}
	return 0;
}

bool term_is_stop_word(const char *folded, size_t len)
{
	unsigned flags = flags_of(folded, len);
	return (flags & (EN | FR)) && !(flags & KEPT);
}

unsigned stop_word_languages(const char *folded, size_t len)
{
	return flags_of(folded, len) & (EN | FR | DE);
}
