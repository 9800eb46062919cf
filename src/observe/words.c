/*
 * Tables of words by which sentences are judged. Each is sorted by bytes: it is searched by halves,
 * and a test checks the order.
 */
#include "observe/sentence.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

#define WORD_BYTES_MAX 64

/* Stop words, and what every report of work says whatever the work was. English, then French. */
static const char *const generic[] = { "a", "able", "about", "actually", "add", "added",
	"additional", "after", "again", "against", "ai", "ajouté", "ajoutée", "all", "alors",
	"already", "also", "am", "an", "analysis", "and", "answer", "any", "anything", "approach",
	"approaches", "are", "aren't", "as", "at", "au", "aussi", "autre", "autres", "aux", "avait",
	"avec", "avez", "avoir", "avons", "awesome", "basically", "be", "because", "been", "before",
	"begin", "being", "between", "bien", "bilan", "bit", "bogue", "bogues", "bonjour", "both",
	"branch", "bug", "bugs", "build", "builds", "built", "but", "by", "c'est", "can", "can't",
	"car", "case", "cases", "ce", "ceci", "cela", "celle", "celles", "celui", "ces", "cet",
	"cette", "ceux", "change", "changed", "changement", "changements", "changes", "changing",
	"check", "checked", "checking", "checks", "chez", "ci", "clean", "code", "command",
	"commande", "commandes", "commands", "comment", "commit", "commits", "committed", "compile",
	"compiled", "compiles", "complete", "completed", "completely", "completes", "completion",
	"conclusion", "confirm", "confirmed", "context", "continue", "continuer", "cool", "correct",
	"correctement", "correction", "corrections", "correctly", "corrigé", "corrigée", "could",
	"couldn't", "create", "created", "créé", "créée", "current", "currently", "d", "d'accord",
	"dans", "de", "des", "detail", "details", "devez", "did", "didn't", "do", "does", "doesn't",
	"doing", "dois", "doit", "don't", "donc", "done", "dont", "down", "du", "during", "déjà",
	"e.g", "each", "either", "elle", "elles", "else", "en", "encore", "ensuite", "entire",
	"entre", "es", "est", "et", "etc", "eu", "even", "ever", "every", "everything", "example",
	"examples", "excellent", "execute", "executed", "explain", "explanation", "fail", "failed",
	"failing", "fails", "faire", "fais", "fait", "faites", "falloir", "faut", "feedback", "few",
	"fichier", "fichiers", "file", "files", "final", "finding", "findings", "fine", "fini",
	"finie", "finished", "first", "fix", "fixed", "fixes", "fixing", "following", "fonctionne",
	"for", "format", "formatted", "formatting", "from", "full", "further", "get", "gets",
	"getting", "go", "goes", "going", "gone", "good", "got", "great", "green", "had", "has",
	"have", "having", "he", "hello", "her", "here", "here's", "hers", "hey", "hi", "him", "his",
	"how", "however", "i", "i'd", "i'll", "i'm", "i've", "i.e", "idea", "ideas", "if", "il",
	"ils", "implement", "implementation", "implemented", "implementing", "implements",
	"implémentation", "implémenté", "important", "improvement", "improvements", "in", "info",
	"information", "instead", "into", "is", "isn't", "issue", "issues", "it", "it's", "item",
	"items", "its", "j'ai", "jamais", "je", "jour", "just", "keep", "key", "kind", "l", "l'on",
	"la", "lance", "lancer", "last", "le", "les", "let", "let's", "lets", "leur", "leurs",
	"ligne", "lignes", "like", "likes", "line", "lines", "lint", "linter", "linting", "local",
	"locally", "look", "looking", "looks", "lot", "lots", "lui", "ma", "made", "main", "mais",
	"major", "make", "makes", "making", "many", "marche", "may", "me", "merci", "mes", "might",
	"mine", "minor", "mis", "mise", "modification", "modifications", "modified", "modifié",
	"modifiée", "modifiés", "modify", "moins", "mon", "more", "most", "much", "must", "my",
	"même", "n'est", "ne", "need", "needed", "needs", "neither", "never", "new", "next", "ni",
	"nice", "no", "non", "nope", "nor", "nos", "not", "note", "notes", "nothing", "notre",
	"nous", "now", "of", "off", "ok", "okay", "old", "on", "once", "one", "only", "ont", "onto",
	"option", "options", "or", "other", "ou", "oui", "our", "ours", "out", "output", "over",
	"overview", "own", "où", "par", "parfait", "parfaite", "part", "parts", "pas", "pass",
	"passe", "passed", "passent", "passes", "passing", "per", "perfect", "peut", "peux",
	"picture", "pipeline", "place", "places", "plan", "plans", "please", "plus", "point",
	"points", "pour", "pourquoi", "pouvez", "pouvoir", "pouvons", "pr", "previous", "problem",
	"problems", "problème", "problèmes", "proceed", "properly", "prs", "prêt", "prête", "puis",
	"pull", "push", "pushed", "qu'elle", "qu'il", "quand", "que", "question", "questions",
	"qui", "quick", "quite", "quoi", "ran", "ready", "really", "recap", "recommendation",
	"recommendations", "remove", "removed", "report", "request", "rerun", "response", "result",
	"results", "review", "reviewed", "right", "run", "running", "runs", "récapitulatif",
	"réponse", "résumé", "réussi", "réussis", "s'il", "s'il-te-plaît", "sa", "salut", "same",
	"sans", "se", "second", "see", "seen", "sees", "sense", "sera", "seront", "ses", "session",
	"sessions", "shall", "she", "short", "should", "shouldn't", "si", "simple", "simply",
	"since", "small", "so", "solution", "some", "someone", "something", "sommes", "son", "sont",
	"sort", "sous", "start", "started", "starting", "status", "step", "steps", "still", "stp",
	"success", "successful", "successfully", "succès", "such", "suggestion", "suggestions",
	"suis", "suite", "suivant", "suivante", "suivantes", "suivants", "summarise", "summarize",
	"summary", "super", "supprimé", "supprimée", "sur", "sure", "svp", "ta", "task", "tasks",
	"te", "terminé", "terminée", "terminés", "tes", "test", "tested", "testing", "tests",
	"than", "thank", "thanks", "that", "that's", "the", "their", "theirs", "them", "then",
	"there", "there's", "therefore", "these", "they", "thing", "things", "third", "this",
	"those", "thoughts", "three", "through", "thus", "to", "today", "ton", "too", "tool",
	"tools", "toujours", "tous", "tout", "toute", "toutes", "travail", "trop", "très", "tu",
	"two", "tâche", "tâches", "un", "under", "understand", "understanding", "une", "until",
	"up", "update", "updated", "updates", "updating", "us", "use", "used", "uses", "using",
	"validate", "validated", "validation", "validé", "verification", "verified", "verify",
	"vers", "very", "via", "voici", "voilà", "vos", "votre", "vous", "vs", "vérification",
	"vérifié", "want", "wanted", "wants", "was", "wasn't", "way", "ways", "we", "we'll",
	"we're", "we've", "well", "were", "weren't", "what", "what's", "when", "where", "which",
	"while", "who", "whole", "whom", "whose", "why", "will", "with", "won't", "work", "worked",
	"working", "works", "would", "wouldn't", "yeah", "yep", "yes", "yet", "you", "you'll",
	"you're", "you've", "your", "yours", "à", "ça", "échoue", "échouent", "étaient", "était",
	"étape", "étapes", "été", "êtes", "être" };

/* Words that point at something said elsewhere. */
static const char *const pointers[] = { "both", "ce", "ceci", "cela", "celle-ci", "celui-ci", "ces",
	"elle", "elles", "he", "here", "il", "ils", "it", "its", "she", "so", "such", "that",
	"them", "there", "these", "they", "this", "those", "which", "ça" };

/* Deeds, as reports begin with them. */
static const char *const deeds[] = { "activé", "added", "addressed", "adjusted", "ajouté",
	"ajoutée", "aligned", "allowed", "amélioré", "analysed", "analysé", "analyzed", "annulé",
	"applied", "avoided", "benchmarked", "blocked", "built", "bumped", "bundled", "cached",
	"changed", "cherry-picked", "cleaned", "closed", "committed", "compared", "comparé",
	"configured", "configuré", "confirmed", "confirmé", "consolidated", "converted", "converti",
	"corrected", "corrigé", "corrigée", "covered", "created", "créé", "créée", "deduplicated",
	"deleted", "deployed", "deprecated", "disabled", "discovered", "displayed", "documented",
	"documenté", "doubled", "downgraded", "downloaded", "dropped", "découvert", "déplacé",
	"déployé", "désactivé", "enabled", "ensured", "excluded", "exported", "exposed", "extended",
	"extracted", "extrait", "filed", "filtered", "fixed", "formatted", "found", "fusionné",
	"generated", "guarded", "généré", "handled", "hardened", "hid", "identified", "identifié",
	"ignored", "implemented", "implémenté", "imported", "improved", "included", "increased",
	"inlined", "installed", "installé", "integrated", "introduced", "intégré", "investigated",
	"limited", "linted", "logged", "made", "measured", "merged", "mesuré", "migrated", "migré",
	"mis", "modifié", "moved", "nettoyé", "normalized", "opened", "optimised", "optimisé",
	"optimized", "parsed", "passed", "passé", "patched", "pinned", "plumbed", "ported",
	"posted", "poussé", "prevented", "published", "publié", "pushed", "put", "rebased",
	"rebuilt", "recorded", "reduced", "refactored", "refactorisé", "registered", "rejected",
	"relaxed", "released", "removed", "remplacé", "renamed", "renommé", "reorganised",
	"reorganized", "replaced", "reproduced", "reproduit", "resolved", "restauré", "restored",
	"restructured", "reverted", "reviewed", "reworked", "rewrote", "résolu", "réécrit", "saved",
	"set", "showed", "simplified", "simplifié", "skipped", "sorted", "spawned", "split",
	"squashed", "standardized", "started", "stopped", "stored", "supprimé", "supprimée",
	"swapped", "switched", "synced", "tagged", "tested", "tightened", "traced", "trimmed",
	"trouvé", "turned", "unified", "unifié", "unpinned", "updated", "upgraded", "uploaded",
	"validated", "verified", "vérifié", "wired", "wrote", "écrit", "étendu" };

/* Orders, as requests begin with them. */
static const char *const orders[] = { "abort", "add", "address", "adjust", "adopt", "ajoute",
	"ajouter", "align", "allow", "améliore", "améliorer", "analyse", "analyser", "analyze",
	"apply", "ask", "assign", "benchmark", "build", "bump", "bundle", "cache", "call", "cancel",
	"capture", "catch", "change", "changer", "check", "cherche", "chercher", "clarify", "clean",
	"close", "collect", "combine", "commit", "compare", "compile", "complete", "configure",
	"connect", "consider", "consolidate", "continue", "convert", "corrige", "corriger", "count",
	"cover", "create", "crée", "créer", "cut", "debug", "decrease", "dedupe", "deduplicate",
	"delete", "deploy", "deprecate", "describe", "design", "detect", "determine", "disable",
	"display", "do", "document", "documente", "documenter", "double", "draft", "drop",
	"déplace", "déplacer", "enable", "enlever", "enlève", "ensure", "evaluate", "examine",
	"explain", "explique", "expliquer", "export", "expose", "extend", "extract", "faire",
	"fais", "figure", "file", "filter", "find", "finish", "fix", "format", "fusionne",
	"fusionner", "gather", "generate", "get", "give", "go", "grep", "group", "génère",
	"générer", "handle", "help", "hide", "highlight", "hook", "identify", "ignore", "ignorer",
	"implement", "implémente", "implémenter", "import", "improve", "increase", "initialise",
	"initialize", "inject", "inline", "inspect", "install", "installe", "installer",
	"integrate", "investigate", "invoke", "keep", "kill", "label", "lance", "lancer", "limit",
	"link", "lint", "list", "load", "log", "look", "lower", "make", "mark", "measure",
	"mention", "merge", "mets", "mettre", "migrate", "mock", "modifie", "modifier", "monitor",
	"montre", "montrer", "move", "nettoie", "nettoyer", "note", "open", "optimise", "optimize",
	"package", "parse", "pass", "plan", "point", "polish", "port", "prepare", "prevent",
	"print", "profile", "propose", "publish", "push", "put", "raise", "read", "rebase",
	"recheck", "record", "redo", "reduce", "refactor", "refactorise", "refactoriser", "regarde",
	"regarder", "release", "remove", "remplace", "remplacer", "rename", "render", "rendre",
	"rends", "renomme", "renommer", "reorganize", "repeat", "replace", "reproduce", "rerun",
	"research", "resolve", "restore", "restructure", "retire", "retirer", "retry", "return",
	"revert", "review", "rework", "rewrite", "run", "résume", "résumer", "save", "scaffold",
	"schedule", "search", "set", "setup", "ship", "show", "simplifie", "simplifier", "simplify",
	"skip", "sort", "spawn", "split", "start", "stop", "store", "suggest", "summarise",
	"summarize", "support", "supprime", "supprimer", "switch", "sync", "sépare", "séparer",
	"tag", "tell", "test", "teste", "tester", "throw", "tidy", "trace", "traduire", "traduis",
	"translate", "trigger", "triple", "trouve", "trouver", "try", "tune", "turn", "tweak",
	"undo", "unify", "unwrap", "update", "upgrade", "use", "utilise", "utiliser", "validate",
	"verify", "vérifie", "vérifier", "wait", "watch", "wire", "work", "wrap", "write", "écrire",
	"écris" };

static bool stands_in(const char *const *table, size_t n, const char *word)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = (unsigned char)word[0] - (unsigned char)table[mid][0];

		order = order ? order : strcmp(word, table[mid]);
		if (order == 0)
			return true;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return false;
}

/* ASCII and the Latin letters of French are folded; everything else is compared as it is. */
static bool is_in(const char *const *table, size_t n, struct str word)
{
	char folded[WORD_BYTES_MAX];

	if (word.n == 0 || word.n >= sizeof(folded))
		return false;
	for (size_t i = 0; i < word.n; i++) {
		unsigned char c = (unsigned char)word.p[i];

		folded[i] = (char)tolower(c);
		if (i && (unsigned char)word.p[i - 1] == 0xc3 && c >= 0x80 && c <= 0x9e)
			folded[i] = (char)(c + 0x20);
	}
	folded[word.n] = '\0';
	return stands_in(table, n, folded);
}

bool word_is_generic(struct str word)
{
	return is_in(generic, ARRAY_LEN(generic), word);
}

bool word_is_pointer(struct str word)
{
	return is_in(pointers, ARRAY_LEN(pointers), word);
}

bool word_is_deed(struct str word)
{
	return is_in(deeds, ARRAY_LEN(deeds), word);
}

bool word_is_order(struct str word)
{
	return is_in(orders, ARRAY_LEN(orders), word);
}

/*
 * Signs that stand inside of names: "a-b", "x.y", "src/a.c", "it's", "foo_bar", "a::b", "@x/y",
 * "--flag".
 */
static bool is_inner(char c)
{
	switch (c) {
	case '-':
	case '_':
	case '.':
	case '/':
	case '\'':
	case '@':
	case ':':
	case '#':
	case '+':
		return true;
	default:
		return false;
	}
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

bool word_is_name(struct str word)
{
	size_t upper = 0, inner = 0, digits = 0;

	for (size_t i = 0; i < word.n; i++) {
		char c = word.p[i];

		digits += isdigit((unsigned char)c) != 0;
		upper += isupper((unsigned char)c) && i > 0;
		inner += (c == '_' || c == '.' || c == '/' || c == ':' || c == '#') &&
			 i + 1 < word.n;
	}
	return inner > 0 || upper > 0 || (digits > 0 && digits < word.n && word.n > 2) ||
	       (word.n > 3 && memcmp(word.p, "--", 2) == 0);
}

bool word_next(struct str *rest, struct str *ret)
{
	const char *p = rest->p, *end = rest->p + rest->n, *start;

	while (p < end && !is_letter(*p) &&
		!(*p == '-' && end - p > 3 && p[1] == '-' && is_letter(p[2])))
		p++;
	start = p;
	while (p < end && (is_letter(*p) || is_inner(*p) || (*p == '-' && p == start)))
		p++;
	*rest = (struct str){ p, (size_t)(end - p) };
	while (p > start && !is_letter(p[-1]))
		p--;
	*ret = (struct str){ start, (size_t)(p - start) };
	/* Typographic quotes and dashes are no letters, but their bytes look so. */
	while (ret->n >= 3 && memcmp(ret->p, "\xe2\x80", 2) == 0)
		ret->p += 3, ret->n -= 3;
	return start < end;
}
