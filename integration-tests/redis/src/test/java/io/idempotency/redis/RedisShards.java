package io.idempotency.redis;

import java.util.List;
import java.util.stream.IntStream;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;

/** A cluster of three masters, between which a slot can be moved. */
final class RedisShards implements AutoCloseable {

    private static final int SLOTS = 16384;

    private final List<RedisServer> nodes =
            IntStream.range(0, 3).mapToObj(i -> RedisServer.startNode()).toList();

    RedisShards() {
        for (int i = 0; i < nodes.size(); i++) {
            int first = i * SLOTS / nodes.size();
            int last = (i + 1) * SLOTS / nodes.size() - 1;
            String epoch = String.valueOf(i + 1);
            nodes.get(i).does(jedis -> {
                jedis.sendCommand(Command.CLUSTER, "SET-CONFIG-EPOCH", epoch);
                return jedis.clusterAddSlotsRange(first, last);
            });
        }
        for (RedisServer node : nodes) {
            nodes.get(0)
                    .does(jedis -> jedis.sendCommand(
                            Command.CLUSTER,
                            "MEET",
                            "127.0.0.1",
                            String.valueOf(node.port()),
                            node.does(it -> it.configGet("cluster-port")).get("cluster-port")));
        }
        nodes.forEach(node -> node.awaitClusterOf(nodes.size()));
    }

    /** The port of one of them. */
    int port() {
        return nodes.get(0).port();
    }

    /** How many keys each has. */
    List<Long> sizes() {
        return nodes.stream().map(node -> node.does(Jedis::dbSize)).toList();
    }

    /** Begins to move the slot of a key, and moves the key: who is asked by then says ASK. */
    Move begin(String key) {
        int slot = (int)
                nodes.get(0).<Long>does(jedis -> jedis.clusterKeySlot(key)).longValue();
        RedisServer from = nodes.stream()
                .filter(node -> node.keys().contains(key))
                .findFirst()
                .orElseThrow();
        RedisServer to = nodes.get((nodes.indexOf(from) + 1) % nodes.size());
        to.does(jedis -> jedis.clusterSetSlotImporting(slot, id(from)));
        from.does(jedis -> jedis.clusterSetSlotMigrating(slot, id(to)));
        from.does(jedis -> jedis.migrate("127.0.0.1", to.port(), key, 0, 10_000));
        return new Move(slot, to);
    }

    private static String id(RedisServer node) {
        return node.does(Jedis::clusterMyId);
    }

    @Override
    public void close() {
        nodes.forEach(RedisServer::close);
    }

    /** Of a slot to another node. */
    final class Move {

        private final int slot;
        private final RedisServer to;

        private Move(int slot, RedisServer to) {
            this.slot = slot;
            this.to = to;
        }

        /** From then on the others say MOVED. */
        void end() {
            to.does(jedis -> jedis.clusterSetSlotNode(slot, id(to)));
            nodes.forEach(node -> node.does(jedis -> jedis.clusterSetSlotNode(slot, id(to))));
        }
    }
}
