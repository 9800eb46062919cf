"""Prepared statements through libpq, as cheap as they can be from Python: text in, text out."""
import ctypes
import ctypes.util

pq = ctypes.CDLL(ctypes.util.find_library("pq") or "libpq.so.5")
for name in ("PQconnectdb", "PQexec", "PQprepare", "PQexecPrepared"):
    getattr(pq, name).restype = ctypes.c_void_p
for name in ("PQresultErrorMessage", "PQgetvalue", "PQerrorMessage"):
    getattr(pq, name).restype = ctypes.c_char_p
TUPLES_OK, COMMAND_OK = 2, 1


class Connection:
    def __init__(self, info):
        self.at = ctypes.c_void_p(pq.PQconnectdb(info.encode()))
        if pq.PQstatus(self.at):
            raise RuntimeError(pq.PQerrorMessage(self.at).decode())

    def rows(self, result):
        result = ctypes.c_void_p(result)
        try:
            if pq.PQresultStatus(result) not in (TUPLES_OK, COMMAND_OK):
                raise RuntimeError(pq.PQresultErrorMessage(result).decode())
            width = pq.PQnfields(result)
            return [[pq.PQgetvalue(result, i, k).decode() for k in range(width)] for i in range(pq.PQntuples(result))]
        finally:
            pq.PQclear(result)

    def run(self, sql):
        return self.rows(pq.PQexec(self.at, sql.encode()))

    def prepare(self, name, sql):
        self.rows(pq.PQprepare(self.at, name.encode(), sql.encode(), 0, None))

    def ask(self, name, *args):
        values = (ctypes.c_char_p * len(args))(*[None if a is None else str(a).encode() for a in args])
        return self.rows(pq.PQexecPrepared(self.at, name.encode(), len(args), values, None, None, 0))
