#include "base/mem.h"
#include "index/snapshot.h"

struct room *room_take(struct index *ix)
{
	struct room *room = NULL;
	pthread_mutex_lock(&ix->lock);
	for (int i = 0; i < ROOMS && !room; i++) {
		room = ix->rooms[i];
		ix->rooms[i] = NULL;
	}
	pthread_mutex_unlock(&ix->lock);
	return room ? room : mem_alloc(sizeof(*room));
}

/* Grows to what the search would have liked, up to ROOM_MAX. */
static void room_fit(struct room *room)
{
	size_t wanted = room->used + room->missed;
	if (room->missed && room->size < ROOM_MAX) {
		free(room->bytes);
		room->size = wanted < ROOM_MAX ? wanted : ROOM_MAX;
		room->bytes = mem_resize(NULL, room->size);
	}
	room->used = room->missed = 0;
}

void room_leave(struct index *ix, struct room *room)
{
	room_fit(room);
	pthread_mutex_lock(&ix->lock);
	for (int i = 0; i < ROOMS && room; i++) {
		if (!ix->rooms[i]) {
			ix->rooms[i] = room;
			room = NULL;
		}
	}
	pthread_mutex_unlock(&ix->lock);
	room_free(room);
}

void room_free(struct room *room)
{
	if (!room)
		return;
	free(room->bytes);
	free(room);
}
