package lectus.http;

import lectus.http.testing.LectusServer;
import lectus.server.NodeSettings;

/** Servers that take larger or smaller requests than tests usually send. */
final class LargeRequests {
  private LargeRequests() {}

  static NodeSettings allowed(NodeSettings settings) {
    return withHttp(settings, LectusServer.http(8_000, 64 << 20, LectusServer.noCors()));
  }

  static NodeSettings withHttp(NodeSettings settings, HttpSettings http) {
    return new NodeSettings(
        settings.host(),
        settings.port(),
        http,
        settings.documents(),
        settings.writes(),
        settings.readers(),
        settings.bodyMemoryBytes(),
        settings.polls(),
        settings.cluster(),
        settings.stopGrace());
  }
}
