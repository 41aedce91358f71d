//! Ports that foreign URLs may use: 80, 443, and the high ports except those of well-known internal services. Below
//! 1024 nothing else is allowed, so only high ports are listed.

/// High ports on the block list of the WHATWG fetch standard. Their services do not speak HTTP and may interpret it as
/// commands.
const BLOCKED: &[u16] = &[
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Databases, queues and control APIs. They often trust everybody who can reach them, and some interpret HTTP lines as
/// commands. Sorted.
const INTERNAL: &[(u16, &str)] = &[
    (1433, "Microsoft SQL Server"),
    (1521, "Oracle Database"),
    (1883, "MQTT"),
    (2181, "ZooKeeper"),
    (2375, "the Docker API"),
    (2376, "the Docker API"),
    (2377, "Docker Swarm"),
    (2379, "etcd"),
    (2380, "etcd"),
    (3306, "MySQL"),
    (3389, "Remote Desktop"),
    (4222, "NATS"),
    (4369, "the Erlang port mapper"),
    (4646, "the Nomad API"),
    (5432, "PostgreSQL"),
    (5671, "AMQP"),
    (5672, "AMQP"),
    (5900, "VNC"),
    (5984, "CouchDB"),
    (5985, "Windows Remote Management"),
    (5986, "Windows Remote Management"),
    (6379, "Redis"),
    (6380, "Redis"),
    (6443, "the Kubernetes API"),
    (7474, "Neo4j"),
    (7687, "Neo4j"),
    (8086, "InfluxDB"),
    (8123, "ClickHouse"),
    (8200, "Vault"),
    (8300, "Consul"),
    (8301, "Consul"),
    (8500, "the Consul API"),
    (8501, "the Consul API"),
    (8529, "ArangoDB"),
    (9042, "Cassandra"),
    (9092, "Kafka"),
    (9160, "Cassandra"),
    (9200, "Elasticsearch"),
    (9300, "Elasticsearch"),
    (10_250, "the kubelet API"),
    (10_255, "the kubelet API"),
    (10_257, "the Kubernetes controller manager"),
    (10_259, "the Kubernetes scheduler"),
    (11_211, "memcached"),
    (15_672, "the RabbitMQ API"),
    (26_257, "CockroachDB"),
    (26_379, "Redis Sentinel"),
    (27_017, "MongoDB"),
    (27_018, "MongoDB"),
    (27_019, "MongoDB"),
    (28_015, "RethinkDB"),
    (61_616, "ActiveMQ"),
];

/// Whether foreign URLs may use the port.
pub(super) fn is_for_the_web(port: u16) -> bool {
    matches!(port, 80 | 443 | 1024..) && !BLOCKED.contains(&port) && what_listens(port).is_none()
}

/// The service on a blocked port, if it is known.
pub(super) fn what_listens(port: u16) -> Option<&'static str> {
    let at = INTERNAL.binary_search_by_key(&port, |(port, _)| *port).ok()?;
    INTERNAL.get(at).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::INTERNAL;

    #[test]
    fn the_table_is_sorted_and_says_what_listens() {
        assert!(INTERNAL.is_sorted_by(|(one, _), (next, _)| one < next));
        assert!(INTERNAL.iter().all(|(port, what)| *port > 1024 && !what.is_empty()));
    }
}
