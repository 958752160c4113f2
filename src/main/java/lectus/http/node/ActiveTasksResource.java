package lectus.http.node;

import java.util.List;
import lectus.http.Membership;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.task.TaskState;
import lectus.task.Tasks;

/** {@code /_active_tasks}: what servers do in the background, in CouchDB's form. */
final class ActiveTasksResource implements Resource {
  private final Tasks tasks;
  private final Membership membership;

  ActiveTasksResource(Tasks tasks, Membership membership) {
    this.tasks = tasks;
    this.membership = membership;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.reply(Reply.json(200, json(tasks.running())));
      default -> throw Requests.notAllowed("GET,HEAD");
    }
  }

  private JsonBuffer json(List<TaskState> running) {
    JsonBuffer json = new JsonBuffer(256).octet('[');
    for (int i = 0; i < running.size(); i++) {
      append(running.get(i), json.ascii(i == 0 ? "" : ","));
    }
    return json.octet(']');
  }

  /** Clients take a task's pid for its name. What has no database has an empty one. */
  private void append(TaskState task, JsonBuffer json) {
    json.ascii("{\"node\":").string(membership.self());
    json.ascii(",\"pid\":").string("<0." + task.number() + ".0>");
    json.ascii(",\"type\":").string(task.type());
    json.ascii(",\"database\":").string(task.subject());
    json.ascii(",\"started_on\":").number(task.started().getEpochSecond());
    json.ascii(",\"updated_on\":").number(task.updated().getEpochSecond());
    json.ascii(",\"changes_done\":").number(task.done());
    task.total().ifPresent(total -> json.ascii(",\"total_changes\":").number(total));
    task.progress().ifPresent(percent -> json.ascii(",\"progress\":").number(percent));
    json.octet('}');
  }
}
