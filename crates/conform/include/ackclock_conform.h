/*
 * A TCP under test, as a shared library for `ackclock conform SCRIPTS --library FILE`.
 *
 * The library exports one function, ackclock_tcp(), which returns a table of functions that lives as long as the process.
 * Each script gets a TCP of its own from open(). Functions marked "may be null" need not exist: a script that uses one
 * counts as not understood.
 *
 * Time is virtual. It is 0 when the TCP is opened, in nanoseconds, and advances only between calls: each function gets the
 * time `now`, and none may look at another clock. After each call the runner takes packets until there is none, and asks
 * for the next timer.
 *
 * Pointers that a function gets are valid until it returns. No function may keep them, and none may call back.
 */
#ifndef ACKCLOCK_CONFORM_H
#define ACKCLOCK_CONFORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; the library is refused if it has another. */
#define ACKCLOCK_CONFORM_VERSION 1

/*
 * A socket call returns its result (at least 0), an error as -errno with Linux's number, such as -104 for ECONNRESET, or one
 * of these.
 */
#define ACKCLOCK_WAIT (-INT64_C(1000000))    /* it blocks: the same call is made again after each event */
#define ACKCLOCK_UNKNOWN (-INT64_C(1000001)) /* this TCP does not have it: the script counts as not understood */

/* The time of a timer that does not run. */
#define ACKCLOCK_NEVER UINT64_MAX

/* Flags of read. */
#define ACKCLOCK_PEEK 1u     /* MSG_PEEK: the bytes stay */
#define ACKCLOCK_DONTWAIT 2u /* MSG_DONTWAIT, also of write */
#define ACKCLOCK_WAITALL 4u  /* MSG_WAITALL: waits for the full length */
#define ACKCLOCK_TRUNC 8u    /* MSG_TRUNC: the bytes are dropped */

/* Flags of write. */
#define ACKCLOCK_MORE 16u /* MSG_MORE: more follows */
#define ACKCLOCK_EOR 32u  /* MSG_EOR: nothing is joined to these bytes */

/* What poll finds, as its result. */
#define ACKCLOCK_POLLIN 0x1
#define ACKCLOCK_POLLOUT 0x4
#define ACKCLOCK_POLLERR 0x8
#define ACKCLOCK_POLLHUP 0x10
#define ACKCLOCK_POLLRDHUP 0x2000

/* The states of connections, in the order of RFC 9293 section 3.3.2. */
enum ackclock_state {
    ACKCLOCK_LISTEN,
    ACKCLOCK_SYN_SENT,
    ACKCLOCK_SYN_RCVD,
    ACKCLOCK_ESTABLISHED,
    ACKCLOCK_FIN_WAIT_1,
    ACKCLOCK_FIN_WAIT_2,
    ACKCLOCK_CLOSE_WAIT,
    ACKCLOCK_CLOSING,
    ACKCLOCK_LAST_ACK,
    ACKCLOCK_TIME_WAIT,
    ACKCLOCK_CLOSED,
    ACKCLOCK_STATES /* how many there are */
};

/* An address: four or sixteen bytes in network order. */
struct ackclock_address {
    uint8_t ip[16];
    uint16_t port;   /* in the order of this machine */
    uint16_t family; /* 4 or 6 */
};

/* The host of a script. */
struct ackclock_host {
    struct ackclock_address local;
    uint32_t mtu;    /* of its device, bytes */
    uint32_t system; /* whose settings the scripts expect: 0 Linux, 1 FreeBSD */
};

/* The value of a socket option. */
struct ackclock_value {
    int64_t number;   /* the number; for SO_LINGER whether it is on */
    int64_t seconds;  /* for SO_LINGER */
    const char *text; /* for TCP_CONGESTION; null otherwise */
};

/* The TCP. `tcp` is what open() returned, and a socket what socket() or accept() returned. */
struct ackclock_tcp {
    uint32_t version; /* ACKCLOCK_CONFORM_VERSION */
    uint32_t threads; /* not 0 if several TCPs may be used at once from several threads */

    /* A fresh TCP; null if there cannot be one. */
    void *(*open)(const struct ackclock_host *host);
    void (*close)(void *tcp);

    /* A packet arrives; it begins with its IP header. */
    void (*on_packet)(void *tcp, uint64_t now, const uint8_t *packet, size_t len);
    /* Writes the next packet to `buf`, which has room for `room` bytes, and returns its length; 0 if there is none. */
    size_t (*poll_transmit)(void *tcp, uint64_t now, uint8_t *buf, size_t room);
    /* When on_timer() must be called at the latest. */
    uint64_t (*next_timer)(const void *tcp);
    void (*on_timer)(void *tcp, uint64_t now);

    /* Each of the following may be null. */

    /* A setting by its sysctl name; not 0 if the TCP follows it. */
    int (*set)(void *tcp, const char *name, const char *value);

    int64_t (*socket)(void *tcp, uint64_t now, int ipv6);
    int64_t (*bind)(void *tcp, uint64_t now, uint32_t socket, const struct ackclock_address *local);
    int64_t (*listen)(void *tcp, uint64_t now, uint32_t socket, uint32_t backlog);
    int64_t (*accept)(void *tcp, uint64_t now, uint32_t socket);
    int64_t (*connect)(void *tcp, uint64_t now, uint32_t socket, const struct ackclock_address *remote);
    /* Data are zeros on both sides, so that only lengths are passed. */
    int64_t (*read)(void *tcp, uint64_t now, uint32_t socket, size_t len, uint32_t flags);
    int64_t (*write)(void *tcp, uint64_t now, uint32_t socket, size_t len, uint32_t flags);
    /* `how`: 0 SHUT_RD, 1 SHUT_WR, 2 SHUT_RDWR. */
    int64_t (*shutdown)(void *tcp, uint64_t now, uint32_t socket, int how);
    int64_t (*close_socket)(void *tcp, uint64_t now, uint32_t socket);
    /* `name` as in C: "TCP_NODELAY". The text that get_option() leaves in `value` must live until the next call. */
    int64_t (*set_option)(void *tcp, uint64_t now, uint32_t socket, const char *name, const struct ackclock_value *value);
    int64_t (*get_option)(void *tcp, uint64_t now, uint32_t socket, const char *name, struct ackclock_value *value);
    int64_t (*set_non_blocking)(void *tcp, uint64_t now, uint32_t socket, int on);
    /* `name`: "SIOCINQ" bytes to read, "SIOCOUTQ" bytes not acknowledged, "SIOCOUTQNSD" bytes not sent. */
    int64_t (*queue_length)(void *tcp, uint64_t now, uint32_t socket, const char *name);
    int64_t (*poll)(void *tcp, uint64_t now, uint32_t socket);

    /* A field of struct tcp_info, such as "tcpi_snd_cwnd"; not 0 if the TCP has it. */
    int (*info)(const void *tcp, uint64_t now, uint32_t socket, const char *field, int64_t *value);
    /* Adds the number of connections in each state to `counts`; not 0 if the TCP can tell. */
    int (*states)(const void *tcp, uint32_t counts[ACKCLOCK_STATES]);
    /* Removes all connections in TIME-WAIT; not 0 if the TCP can. */
    int (*drop_time_waits)(void *tcp);
};

/* What the library exports. */
const struct ackclock_tcp *ackclock_tcp(void);

#ifdef __cplusplus
}
#endif

#endif
