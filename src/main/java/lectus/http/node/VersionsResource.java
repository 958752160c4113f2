package lectus.http.node;

import com.ibm.icu.util.VersionInfo;
import io.vertx.core.Future;
import lectus.http.exchange.Requests;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/** {@code /_node/{node}/_versions}: what the server is built on. It runs no JavaScript. */
final class VersionsResource implements NodePart {
  private final Reply reply;

  VersionsResource() {
    JsonBuffer json = new JsonBuffer(512);
    json.ascii("{\"java\":{\"version\":").string(System.getProperty("java.version", ""));
    json.ascii(",\"vendor\":").string(System.getProperty("java.vendor", ""));
    json.ascii("},\"collation_driver\":{\"name\":\"icu4j\",\"library_version\":");
    json.string(VersionInfo.ICU_VERSION.toString());
    json.ascii("},\"javascript_engine\":{\"name\":\"none\"}}");
    reply = Reply.json(200, json);
  }

  @Override
  public Future<Reply> answer(NodeRequest request) {
    return switch (request.method()) {
      case GET, HEAD -> Future.succeededFuture(reply);
      default -> throw Requests.notAllowed("GET");
    };
  }
}
