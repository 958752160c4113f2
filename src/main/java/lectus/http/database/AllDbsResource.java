package lectus.http.database;

import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.NamePage;
import lectus.database.NameRange;
import lectus.document.PagedBody;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.StreamedBody;
import lectus.json.JsonBuffer;

/** {@code /_all_dbs}: the names of all databases, read page by page. */
final class AllDbsResource implements Resource {
  private final Catalogue catalogue;

  AllDbsResource(Catalogue catalogue) {
    this.catalogue = catalogue;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {
        NameRange range = NameQuery.parse(exchange.query());
        exchange.streamTagged(
            () -> StreamedBody.tagged(catalogue.version(), new Body(catalogue, range)));
      }
      default -> throw Requests.notAllowed("GET,HEAD");
    }
  }

  private static final class Body implements PagedBody {
    private final Catalogue catalogue;
    private Optional<NameRange> rest;
    private String separator = "[";

    Body(Catalogue catalogue, NameRange range) {
      this.catalogue = catalogue;
      this.rest = Optional.of(range);
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      NamePage page = catalogue.names(rest.orElseThrow());
      for (DatabaseName name : page.names()) {
        out.ascii(separator).string(name.text());
        separator = ",";
      }
      rest = page.next();
      if (rest.isEmpty()) {
        out.ascii(separator.equals("[") ? "[]\n" : "]\n");
      }
      return rest.isPresent();
    }
  }
}
