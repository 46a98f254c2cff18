import java.io.*;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.*;
import org.apache.hadoop.hbase.client.*;
import org.apache.hadoop.hbase.thrift2.generated.*;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.transport.*;

/**
 * HBase's own Java clients, for hbase.py: the client of its region servers ("java"), and the client of its gateway that
 * Thrift has generated ("gateway").  Arguments: ZooKeeper's port, the gateway's port, the number of rows.
 *
 * A row is (bigint key, ten bigint columns c0 .. c9 of family cf), all as Bytes.toBytes writes them.  Each line of the input
 * is a client, a measurement, and seconds; the answer is a line "= NUMBER", of calls or rows a second:
 *
 *   java|gateway get S         rows by random keys              java|gateway page S     ten rows from a random key on
 *   java|gateway scan 0        all rows, once                   java|gateway load 0     all rows into table wc_bench:load
 *   java empty 0               makes wc_bench:load empty        java make 0             makes both tables, fills wc_bench:rows
 */
public class HBaseBench {
	static final int COLUMNS = 10, BATCH = 1000;
	static final byte[] CF = Bytes.toBytes("cf");
	static final byte[][] NAMES = new byte[COLUMNS][];
	static final TableName ROWS = TableName.valueOf("wc_bench:rows"), LOAD = TableName.valueOf("wc_bench:load");
	static final Random random = new Random(1);
	static long rows, cells;

	/* As the rows of bench.py. */
	static long value(long key, int column) { return (key * 7919 + column * 104729L) % 1000000007L; }

	/* HBase sorts bytes; widecol's encoding "binary" of a key turns the sign over. */
	static byte[] key(long k) { return Bytes.toBytes(k ^ Long.MIN_VALUE); }
	static byte[] anyKey() { return key((long) (random.nextDouble() * rows)); }

	interface Client {
		void get(byte[] key) throws Exception;
		void page(byte[] key) throws Exception;
		void scan() throws Exception;
		void load(long from, int n) throws Exception;
	}

	static class Native implements Client {
		final Connection connection; final Table table, load;
		Native(Connection c) throws IOException { connection = c; table = c.getTable(ROWS); load = c.getTable(LOAD); }
		void walk(Result r) { for (Cell c : r.rawCells()) cells += c.getValueLength(); }
		public void get(byte[] key) throws IOException { walk(table.get(new Get(key).addFamily(CF))); }
		public void page(byte[] key) throws IOException {
			try (ResultScanner s = table.getScanner(new Scan().addFamily(CF).withStartRow(key).setLimit(10).setCaching(10))) { for (Result r : s) walk(r); }
		}
		public void scan() throws IOException {
			try (ResultScanner s = table.getScanner(new Scan().addFamily(CF))) { for (Result r : s) walk(r); }
		}
		public void load(long from, int n) throws IOException {
			List<Put> puts = new ArrayList<>(n);
			for (long k = from; k < from + n; k++) {
				Put p = new Put(key(k));
				for (int i = 0; i < COLUMNS; i++) p.addColumn(CF, NAMES[i], Bytes.toBytes(value(k, i)));
				puts.add(p);
			}
			load.put(puts);
		}
	}

	static class Gateway implements Client {
		final THBaseService.Client client; final ByteBuffer table = ByteBuffer.wrap(ROWS.getName()), load = ByteBuffer.wrap(LOAD.getName());
		final List<TColumn> columns = List.of(new TColumn(ByteBuffer.wrap(CF)));
		Gateway(int port) throws Exception {
			TTransport t = new TSocket("127.0.0.1", port);
			t.open();
			client = new THBaseService.Client(new TBinaryProtocol(t));
		}
		void walk(TResult r) { for (TColumnValue c : r.getColumnValues()) cells += c.bufferForValue().remaining(); }
		public void get(byte[] key) throws Exception { walk(client.get(table, new TGet(ByteBuffer.wrap(key)).setColumns(columns))); }
		public void page(byte[] key) throws Exception {
			for (TResult r : client.getScannerResults(table, new TScan().setStartRow(key).setColumns(columns).setLimit(10), 10)) walk(r);
		}
		public void scan() throws Exception {
			int id = client.openScanner(table, new TScan().setColumns(columns).setCaching(BATCH));
			for (;;) {
				List<TResult> got = client.getScannerRows(id, BATCH);
				for (TResult r : got) walk(r);
				if (got.size() < BATCH) break;
			}
			client.closeScanner(id);
		}
		public void load(long from, int n) throws Exception {
			List<TPut> puts = new ArrayList<>(n);
			for (long k = from; k < from + n; k++) {
				List<TColumnValue> values = new ArrayList<>(COLUMNS);
				for (int i = 0; i < COLUMNS; i++)
					values.add(new TColumnValue(ByteBuffer.wrap(CF), ByteBuffer.wrap(NAMES[i]), ByteBuffer.wrap(Bytes.toBytes(value(k, i)))));
				puts.add(new TPut(ByteBuffer.wrap(key(k)), values));
			}
			client.putMultiple(load, puts);
		}
	}

	static double measure(Client c, String what, double seconds) throws Exception {
		long start = System.nanoTime(), n = 0;

		if (what.equals("scan")) { cells = 0; c.scan(); n = rows; if (cells != rows * COLUMNS * 8) throw new IOException("the scan has " + cells + " bytes"); }
		else if (what.equals("load")) { for (; n < rows; n += BATCH) c.load(n, (int) Math.min(BATCH, rows - n)); n = rows; }
		else for (; System.nanoTime() - start < seconds * 1e9; n++) { if (what.equals("get")) c.get(anyKey()); else c.page(anyKey()); }
		return n / ((System.nanoTime() - start) / 1e9);
	}

	static void make(Admin admin, Connection connection) throws Exception {
		TableDescriptorBuilder[] tables = {TableDescriptorBuilder.newBuilder(ROWS), TableDescriptorBuilder.newBuilder(LOAD)};

		admin.createNamespace(org.apache.hadoop.hbase.NamespaceDescriptor.create("wc_bench").build());
		for (TableDescriptorBuilder t : tables) admin.createTable(t.setColumnFamily(ColumnFamilyDescriptorBuilder.of(CF)).build());
		try (Table to = connection.getTable(ROWS)) {
			for (long k = 0; k < rows; k++) {
				Put p = new Put(key(k));
				for (int i = 0; i < COLUMNS; i++) p.addColumn(CF, NAMES[i], Bytes.toBytes(value(k, i)));
				to.put(p);
			}
		}
		admin.flush(ROWS);
	}

	public static void main(String[] a) throws Exception {
		Configuration conf = HBaseConfiguration.create();
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		Map<String, Client> clients = new HashMap<>();
		String line;

		for (int i = 0; i < COLUMNS; i++) NAMES[i] = Bytes.toBytes("c" + i);
		conf.set("hbase.zookeeper.quorum", "127.0.0.1");
		conf.set("hbase.zookeeper.property.clientPort", a[0]);
		rows = Long.parseLong(a[2]);
		Connection connection = ConnectionFactory.createConnection(conf);
		clients.put("java", new Native(connection));
		clients.put("gateway", new Gateway(Integer.parseInt(a[1])));
		while ((line = in.readLine()) != null) {
			String[] w = line.split(" ");
			double rate = 0;
			if (w[1].equals("make")) make(connection.getAdmin(), connection);
			else if (w[1].equals("empty")) { connection.getAdmin().disableTable(LOAD); connection.getAdmin().truncateTable(LOAD, true); }
			else rate = measure(clients.get(w[0]), w[1], Double.parseDouble(w[2]));
			System.out.println(String.format(Locale.ROOT, "= %.1f", rate));
			System.out.flush();
		}
		Runtime.getRuntime().halt(0);
	}
}
