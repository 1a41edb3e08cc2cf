/*
 * A TCP without listeners, whose every port is closed: it answers as RFC 9293 section 3.10.7.1 says. It shows how a TCP in C
 * is driven by scripts:
 *
 *   cc -shared -fPIC -I crates/conform/include -o libclosed.so crates/conform/examples/c/closed.c
 *   ackclock conform conformance/states/closed-data.pkt --library libclosed.so
 */
#include "ackclock_conform.h"

#include <stdlib.h>
#include <string.h>

enum { FIN = 1, SYN = 2, RST = 4, ACK = 16, IP_HEADER = 20, TCP_HEADER = 20, ANSWER = IP_HEADER + TCP_HEADER, WAITING = 64 };

/* The answers that wait for poll_transmit(). */
struct closed {
    uint8_t answers[WAITING][ANSWER];
    size_t count;
    int64_t sockets;
};

static uint32_t number(const uint8_t *at, int bytes) {
    uint32_t all = 0;
    for (int i = 0; i < bytes; i++) all = all << 8 | at[i];
    return all;
}

static void put(uint8_t *at, uint32_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; i--, value >>= 8) at[i] = (uint8_t)value;
}

/* The Internet checksum (RFC 1071) of some bytes, begun with `sum`. */
static uint16_t checksum(const uint8_t *at, size_t len, uint32_t sum) {
    for (size_t i = 0; i + 1 < len; i += 2) sum += number(at + i, 2);
    if (len % 2) sum += (uint32_t)at[len - 1] << 8;
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

static void *open_closed(const struct ackclock_host *host) {
    return host->local.family == 4 ? calloc(1, sizeof(struct closed)) : NULL;
}

static void close_closed(void *tcp) { free(tcp); }

/* RFC 9293 section 3.10.7.1: the answer has the number that the peer expects, or acknowledges all that has arrived. */
static void on_packet(void *tcp, uint64_t now, const uint8_t *packet, size_t len) {
    struct closed *me = tcp;
    (void)now;
    if (len < ANSWER || packet[0] != 0x45 || packet[9] != 6 || me->count == WAITING) return;
    const uint8_t *segment = packet + IP_HEADER;
    size_t header = (size_t)(segment[12] >> 4) * 4, total = number(packet + 2, 2);
    if ((segment[13] & RST) || total > len || total < IP_HEADER + header) return;
    uint8_t *answer = memset(me->answers[me->count++], 0, ANSWER), *reset = answer + IP_HEADER;
    uint32_t occupied = (uint32_t)(total - IP_HEADER - header) + !!(segment[13] & SYN) + !!(segment[13] & FIN);
    memcpy(reset, segment + 2, 2);
    memcpy(reset + 2, segment, 2);
    if (segment[13] & ACK) {
        memcpy(reset + 4, segment + 8, 4);
        reset[13] = RST;
    } else {
        put(reset + 8, number(segment + 4, 4) + occupied, 4);
        reset[13] = RST | ACK;
    }
    reset[12] = TCP_HEADER / 4 << 4;
    answer[0] = 0x45;
    put(answer + 2, ANSWER, 2);
    answer[8] = 64;
    answer[9] = 6;
    memcpy(answer + 12, packet + 16, 4);
    memcpy(answer + 16, packet + 12, 4);
    put(answer + 10, checksum(answer, IP_HEADER, 0), 2);
    uint32_t pseudo = 6 + TCP_HEADER + number(answer + 12, 2) + number(answer + 14, 2) + number(answer + 16, 2) + number(answer + 18, 2);
    put(reset + 16, checksum(reset, TCP_HEADER, pseudo), 2);
}

static size_t poll_transmit(void *tcp, uint64_t now, uint8_t *buf, size_t room) {
    struct closed *me = tcp;
    (void)now;
    if (me->count == 0 || room < ANSWER) return 0;
    memcpy(buf, me->answers[0], ANSWER);
    memmove(me->answers[0], me->answers[1], --me->count * ANSWER);
    return ANSWER;
}

static uint64_t next_timer(const void *tcp) {
    (void)tcp;
    return ACKCLOCK_NEVER;
}

static void on_timer(void *tcp, uint64_t now) {
    (void)tcp;
    (void)now;
}

static int64_t new_socket(void *tcp, uint64_t now, int ipv6) {
    struct closed *me = tcp;
    (void)now;
    return ipv6 ? ACKCLOCK_UNKNOWN : me->sockets++;
}

/* A socket that is bound, but neither listens nor connects, lets its port stay closed. */
static int64_t bind_socket(void *tcp, uint64_t now, uint32_t socket, const struct ackclock_address *local) {
    (void)tcp, (void)now, (void)socket, (void)local;
    return 0;
}

static int64_t set_option(void *tcp, uint64_t now, uint32_t socket, const char *name, const struct ackclock_value *value) {
    (void)tcp, (void)now, (void)socket, (void)value;
    return strcmp(name, "SO_REUSEADDR") == 0 ? 0 : ACKCLOCK_UNKNOWN;
}

const struct ackclock_tcp *ackclock_tcp(void) {
    static const struct ackclock_tcp table = {
        .version = ACKCLOCK_CONFORM_VERSION,
        .threads = 1,
        .open = open_closed,
        .close = close_closed,
        .on_packet = on_packet,
        .poll_transmit = poll_transmit,
        .next_timer = next_timer,
        .on_timer = on_timer,
        .socket = new_socket,
        .bind = bind_socket,
        .set_option = set_option,
    };
    return &table;
}
