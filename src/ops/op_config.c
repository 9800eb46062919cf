#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "conf/settings.h"
#include "ops/all.h"
#include "ops/param.h"

/* config: the settings as they are in force, and changing the file. */

/* As people may see it. */
static const char *shown(struct op_call *call, int id, const char *value)
{
	if (settings_table[id].is_secret && value && *value)
		return "[hidden]";
	return id == SET_STORE ? db_url_shown(call->arena, value) : value;
}

static void setting_write(struct op_call *call, struct jw *out, int id)
{
	const struct setting_info *info = &settings_table[id];
	const char *value = settings_text(call->settings, (enum setting_id)id);
	jw_object(out, NULL);
	jw_str(out, "key", info->key);
	jw_str(out, "value", shown(call, id, value));
	jw_str(out, "default", info->standard);
	jw_str(out, "origin", settings_origin(call->settings, (enum setting_id)id));
	jw_str(out, "help", info->help);
	if (info->choices)
		jw_str(out, "choices", info->choices);
	jw_end(out, '}');
}

static int setting_known(const char *key, int *ret, struct err *err)
{
	*ret = key ? setting_find(key) : -1;
	if (*ret >= 0)
		return 0;
	if (!key)
		return err_set(err, ERR_USAGE, "which setting?");
	const char *near = setting_nearest(key);
	err_set(err, ERR_NOT_FOUND, "there is no setting '%s'", key);
	return near ? err_hint(err, "did you mean %s?", near) : err_hint(err, "`remanence config` lists them");
}

static int config_list(struct op_call *call, const char *key, const char *value, struct jw *out, struct err *err)
{
	(void)value;
	jw_object(out, NULL);
	jw_str(out, "file", call->paths->settings);
	jw_array(out, "settings");
	for (int i = 0; i < SETTING_COUNT; i++)
		if (!key || strstr(settings_table[i].key, key))
			setting_write(call, out, i);
	jw_end(out, ']');
	jw_end(out, '}');
	return 0;
}

static int config_get(struct op_call *call, const char *key, const char *value, struct jw *out, struct err *err)
{
	int id;
	(void)value;
	if (setting_known(key, &id, err))
		return -1;
	setting_write(call, out, id);
	return 0;
}

static int change(struct op_call *call, const char *key, const char *value, struct jw *out, struct err *err)
{
	const struct services *v = call->services;
	int id;
	if (setting_known(key, &id, err) || settings_change(call->paths->settings, settings_table[id].key, value, err))
		return -1;
	if (v && v->settings_changed && v->settings_changed(v->daemon, err))
		return -1;
	bool is_covered = !strcmp(settings_origin(call->settings, (enum setting_id)id), "environment");
	jw_object(out, NULL);
	jw_str(out, "key", settings_table[id].key);
	jw_str(out, "value", value ? shown(call, id, value) : settings_table[id].standard);
	jw_str(out, "origin", is_covered ? "environment" : value ? "file" : "default");
	if (is_covered)
		jw_str(out, "note", "an environment variable of the daemon holds instead of the file");
	jw_end(out, '}');
	return 0;
}

static int config_set(struct op_call *call, const char *key, const char *value, struct jw *out, struct err *err)
{
	if (!value) {
		err_set(err, ERR_USAGE, "config set needs a key and a value");
		return err_hint(err, "`remanence config unset KEY` goes back to the default");
	}
	return change(call, key, value, out, err);
}

static int config_unset(struct op_call *call, const char *key, const char *value, struct jw *out, struct err *err)
{
	(void)value;
	return change(call, key, NULL, out, err);
}

static const struct {
	const char *name;
	int (*run)(struct op_call *call, const char *key, const char *value, struct jw *out, struct err *err);
} actions[] = { { "list", config_list }, { "get", config_get }, { "set", config_set }, { "unset", config_unset } };

int op_config(struct op_call *call, struct jw *out, struct err *err)
{
	const char *action = param_text(call, "action", NULL), *key = param_text(call, "key", NULL);
	const char *value = param_joined(call, "value", NULL);
	if (!action)
		action = value ? "set" : key ? "get" : "list";
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (str_ieq(action, actions[i].name))
			return actions[i].run(call, key, value, out, err);
	err_set(err, ERR_USAGE, "config cannot '%s'", action);
	return err_hint(err, "list, get, set or unset");
}
