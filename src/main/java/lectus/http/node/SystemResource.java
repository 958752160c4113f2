package lectus.http.node;

import io.vertx.core.Future;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.concurrent.TimeUnit;
import lectus.http.exchange.Requests;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;

/**
 * {@code /_node/{node}/_system}: the process, in the form in which CouchDB shows Erlang's. The heap
 * stands for Erlang's processes, threads for their number, and what there is nothing of is 0.
 */
final class SystemResource implements NodePart {
  @Override
  public Future<Reply> answer(NodeRequest request) {
    return switch (request.method()) {
      case GET, HEAD -> Future.succeededFuture(Reply.json(200, json()));
      default -> throw Requests.notAllowed("GET");
    };
  }

  private static JsonBuffer json() {
    JsonBuffer json = new JsonBuffer(1_024);
    long upMillis = ManagementFactory.getRuntimeMXBean().getUptime();
    number(json.octet('{'), "uptime", TimeUnit.MILLISECONDS.toSeconds(upMillis));
    json.ascii(",\"memory\":{");
    appendMemory(json);
    json.ascii("},");
    number(json, "run_queue", 0);
    number(json.octet(','), "run_queue_dirty_cpu", 0);
    number(json.octet(','), "ets_table_count", 0);
    number(json.octet(','), "context_switches", 0);
    number(json.octet(','), "reductions", 0);
    number(json.octet(','), "garbage_collection_count", collections());
    number(json.octet(','), "words_reclaimed", 0);
    number(json.octet(','), "io_input", 0);
    number(json.octet(','), "io_output", 0);
    number(json.octet(','), "os_proc_count", 0);
    number(json.octet(','), "stale_proc_count", 0);
    number(json.octet(','), "process_count", ManagementFactory.getThreadMXBean().getThreadCount());
    number(json.octet(','), "process_limit", 0);
    json.ascii(",\"message_queues\":{},");
    number(json, "internal_replication_jobs", 0);
    return json.ascii(",\"distribution\":{},\"distribution_events\":{}}");
  }

  private static void appendMemory(JsonBuffer json) {
    MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    MemoryUsage code = ManagementFactory.getMemoryMXBean().getNonHeapMemoryUsage();
    number(json, "other", 0);
    number(json.octet(','), "atom", 0);
    number(json.octet(','), "atom_used", 0);
    number(json.octet(','), "processes", heap.getCommitted());
    number(json.octet(','), "processes_used", heap.getUsed());
    number(json.octet(','), "binary", directBytes());
    number(json.octet(','), "code", code.getUsed());
    number(json.octet(','), "ets", 0);
  }

  private static long directBytes() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  private static long collections() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
        .sum();
  }

  private static void number(JsonBuffer json, String name, long value) {
    json.string(name).octet(':').ascii(Long.toString(value));
  }
}
