package lectus.config;

/** Servers beside each other. */
public final class ClusterKeys {
  static final KeySection SECTION = new KeySection("Servers side by side");

  public static final ConfigurationKey<Boolean> CLUSTER =
      SECTION.flag(
          "cluster",
          false,
          """
          Joins the other servers of a cluster, so that a write through one server wakes
          the listeners of all servers at once. The servers need a store that they
          share: foundationdb.
          """);

  public static final ConfigurationKey<String> CLUSTER_CONFIG =
      SECTION.key(
          "cluster.config",
          ValueType.TEXT,
          "",
          """
          How members find each other: a configuration file of Hazelcast, in XML or
          YAML. Without one, members are sought on this machine only, as in
          conf/cluster-loopback.yaml. conf/cluster-members.yaml has a list of addresses,
          conf/cluster-kubernetes.yaml finds members in Kubernetes.
          """);

  public static final ConfigurationKey<Integer> CLUSTER_EVENT_PORT =
      SECTION.number(
          "cluster.event-port",
          0,
          0,
          65_535,
          """
          The port on which members tell each other of changes, at the address that
          Hazelcast uses. 0: any free port.
          """);

  private ClusterKeys() {}
}
