package lectus.http.node;

import com.ibm.icu.util.VersionInfo;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/** {@code /_node/{node}/_versions}: what the server is built on. It runs no JavaScript. */
final class VersionsResource implements Resource {
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
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(reply);
      default -> throw Requests.notAllowed("GET");
    }
  }
}
