package lectus.server;

import java.nio.file.Path;
import java.util.Optional;

/**
 * How a server joins its cluster.
 *
 * @param file Hazelcast's configuration, in XML or YAML; empty: members on this machine
 * @param eventPort port for events from other members; 0: any free one
 */
public record ClusterSettings(Optional<Path> file, int eventPort) {}
