package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import java.nio.file.Path;
import java.util.Optional;
import lectus.server.NodeSettings.ClusterSettings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The configuration files of a cluster. */
final class HazelcastClusterTest {
  private static Config config(Optional<Path> file) {
    return new HazelcastCluster(new ClusterSettings(file, 0)).config();
  }

  @Test
  void without_a_file_members_meet_over_loopback_only() {
    Config config = config(Optional.empty());
    JoinConfig join = config.getNetworkConfig().getJoin();

    assertThat(join.getTcpIpConfig().isEnabled()).isTrue();
    assertThat(join.getTcpIpConfig().getMembers()).containsExactly("127.0.0.1");
    assertThat(join.getMulticastConfig().isEnabled()).isFalse();
    assertThat(join.isAutoDetectionEnabled()).isFalse();
    assertThat(config.getNetworkConfig().getInterfaces().isEnabled()).isTrue();
    assertThat(config.getNetworkConfig().getInterfaces().getInterfaces())
        .containsExactly("127.0.0.1");
    assertThat(config.getProperty("hazelcast.socket.bind.any")).isEqualTo("false");
  }

  @ParameterizedTest
  @ValueSource(strings = {"loopback", "members", "kubernetes"})
  void the_files_that_come_with_lectus_are_sound(String name) {
    Config config = config(Optional.of(Path.of("conf/cluster-" + name + ".yaml")));
    JoinConfig join = config.getNetworkConfig().getJoin();

    assertThatCode(join::verify).doesNotThrowAnyException();
    assertThat(join.getMulticastConfig().isEnabled()).isFalse();
    assertThat(join.isAutoDetectionEnabled()).isFalse();
    assertThat(join.getKubernetesConfig().isEnabled()).isEqualTo(name.equals("kubernetes"));
    assertThat(config.getClusterName()).isEqualTo("lectus");
    assertThat(config.getProperty("hazelcast.phone.home.enabled")).isEqualTo("false");
    assertThat(config.getProperty("hazelcast.logging.type")).isEqualTo("slf4j");
  }
}
