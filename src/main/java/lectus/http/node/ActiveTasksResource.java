package lectus.http.node;

import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.List;
import lectus.http.Membership;
import lectus.http.OtherMembers;
import lectus.http.OtherMembers.Answer;
import lectus.http.OtherMembers.Question;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/**
 * {@code /_active_tasks}: what the members do in the background, in CouchDB's form. As in CouchDB,
 * the tasks of a member that does not answer are missing.
 */
final class ActiveTasksResource implements Resource {
  private static final Question QUESTION =
      new Question("GET", List.of(TaskList.NAME), "", new byte[0]);

  private final TaskList own;
  private final Membership membership;
  private final OtherMembers others;

  ActiveTasksResource(TaskList own, Membership membership, OtherMembers others) {
    this.own = own;
    this.membership = membership;
    this.others = others;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {
        List<Future<String>> answers = answers();
        Future.join(answers)
            .transform(done -> Future.succeededFuture(all(answers)))
            .onComplete(exchange::reply, exchange::fail);
      }
      default -> throw Requests.notAllowed("GET,HEAD");
    }
  }

  private List<Future<String>> answers() {
    return membership.members().stream()
        .filter(member -> !member.equals(membership.self()))
        .map(member -> others.ask(member, QUESTION).map(ActiveTasksResource::tasks))
        .toList();
  }

  /** Returns the tasks of another member, with commas between them. */
  private static String tasks(Answer answer) {
    String json = new String(answer.body(), StandardCharsets.UTF_8).strip();
    boolean isList = answer.status() == 200 && json.startsWith("[") && json.endsWith("]");
    return isList ? json.substring(1, json.length() - 1) : "";
  }

  private Reply all(List<Future<String>> answers) {
    JsonBuffer json = new JsonBuffer(256).octet('[');
    own.append(json);
    for (Future<String> answer : answers) {
      if (answer.succeeded() && !answer.result().isEmpty()) {
        json.ascii(json.length() == 1 ? "" : ",");
        json.raw(answer.result().getBytes(StandardCharsets.UTF_8));
      }
    }
    return Reply.json(200, json.octet(']'));
  }
}
