package lectus.http.server;

import lectus.http.HttpSettings;
import lectus.http.Services;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/** {@code /}: who answers here. The version is that of the CouchDB API which Lectus speaks. */
final class ServerResource implements Resource {
  private static final String API_VERSION = "3.5.2";

  private final Reply welcome;

  ServerResource(Services services, HttpSettings settings) {
    JsonBuffer json = new JsonBuffer(256);
    json.ascii("{\"couchdb\":\"Welcome\",\"version\":").string(API_VERSION);
    json.ascii(",\"git_sha\":").string(settings.version());
    json.ascii(",\"uuid\":").string(services.storeId());
    json.ascii(",\"features\":[\"atomic_bulk_docs\",\"fields\"],\"vendor\":{\"name\":\"Lectus\"");
    json.ascii(",\"version\":").string(settings.version()).ascii("}}");
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
