package lectus.config;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Every key that the configuration knows, in the order in which the configuration file has them.
 */
final class KnownKeys {
  static final List<KeySection> SECTIONS =
      List.of(
          ListenKeys.SECTION,
          TlsKeys.SECTION,
          ProxyKeys.SECTION,
          StoreKeys.SECTION,
          ClusterKeys.SECTION,
          AccessKeys.SECTION,
          AccountKeys.SECTION,
          CorsKeys.SECTION,
          HttpKeys.SECTION,
          WebSocketKeys.SECTION,
          DocumentKeys.SECTION,
          WorkerKeys.SECTION,
          ScriptKeys.SECTION,
          ReplicatorKeys.SECTION,
          LogKeys.SECTION,
          MetricsKeys.SECTION,
          TracingKeys.SECTION);

  static final List<ConfigurationKey<?>> ALL =
      SECTIONS.stream().<ConfigurationKey<?>>flatMap(section -> section.keys().stream()).toList();

  static final Map<String, ConfigurationKey<?>> BY_NAME =
      ALL.stream()
          .collect(Collectors.toUnmodifiableMap(ConfigurationKey::name, Function.identity()));
  static final Map<String, ConfigurationKey<?>> BY_VARIABLE =
      ALL.stream()
          .collect(Collectors.toUnmodifiableMap(ConfigurationKey::variable, Function.identity()));

  private KnownKeys() {}
}
