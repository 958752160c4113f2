package lectus.abuse;

import lectus.http.testing.Connection;
import lectus.http.testing.Request;

/** The database that the attacks read: many documents, some with a long text. */
final class LargeDatabase {
  private static final int BATCHES = 20;
  private static final int DOCUMENTS = 500;
  private static final int TEXTS = 4;
  private static final int TEXT_BYTES = 1_000_000;

  private LargeDatabase() {}

  /** Creates it unless it exists. */
  static void create(int port) {
    try (Connection connection = new Connection(port)) {
      if (connection.write(new Request(port, "PUT", "/large").bytes()).read(false).status()
          == 412) {
        return;
      }
      for (int batch = 0; batch < BATCHES; batch++) {
        ask(connection, new Request(port, "POST", "/large/_bulk_docs").json(documents(batch)));
      }
      String text = "{\"text\":\"" + "a".repeat(TEXT_BYTES) + "\"}";
      for (int i = 0; i < TEXTS; i++) {
        ask(connection, new Request(port, "PUT", "/large/text" + i).json(text));
      }
    }
  }

  private static void ask(Connection connection, Request request) {
    int status = connection.write(request.bytes()).read(false).status();
    if (status != 201) {
      throw new IllegalStateException("No large database: " + status);
    }
  }

  private static String documents(int batch) {
    StringBuilder docs = new StringBuilder("{\"docs\":[");
    for (int i = 0; i < DOCUMENTS; i++) {
      int number = batch * DOCUMENTS + i;
      docs.append(i == 0 ? "" : ",")
          .append("{\"_id\":\"d")
          .append(number)
          .append("\",\"a\":")
          .append(number)
          .append(",\"text\":\"")
          .append("lorem ipsum ".repeat(80))
          .append("\"}");
    }
    return docs.append("]}").toString();
  }
}
