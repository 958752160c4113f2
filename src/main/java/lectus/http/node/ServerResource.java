package lectus.http.node;

import lectus.http.HttpSettings;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/** {@code /}: the server's greeting. The version is that of the CouchDB API which Lectus speaks. */
final class ServerResource implements Resource {
  private final Reply welcome;

  /**
   * @param version of this server, not of the API
   */
  ServerResource(String storeId, String version) {
    JsonBuffer json = new JsonBuffer(256);
    json.ascii("{\"couchdb\":\"Welcome\",\"version\":").string(HttpSettings.API_VERSION);
    json.ascii(",\"git_sha\":").string(version);
    json.ascii(",\"uuid\":").string(storeId);
    json.ascii(",\"features\":[\"atomic_bulk_docs\",\"fields\"],\"vendor\":{\"name\":\"Lectus\"");
    json.ascii(",\"version\":").string(version).ascii("}}");
    welcome = Reply.json(200, json);
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(welcome);
      default -> throw Requests.notAllowed("GET,HEAD");
    }
  }
}
