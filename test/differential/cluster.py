"""Whether foreign tables are in an HBase cluster."""

import os


class HBase:
    """Where foreign tables are in an HBase cluster instead of the embedded engine (run.py --hbase)."""

    port = None                 # of a gateway; None: they are in the embedded engine
    namespace = "wc_differential"

    @staticmethod
    def servers():
        options = f"engine 'hbase', host '127.0.0.1', port '{HBase.port}', isolation 'none'"
        return ["DROP SERVER IF EXISTS hbase, hbase_raw CASCADE", f"CREATE SERVER hbase FOREIGN DATA WRAPPER widecol OPTIONS ({options})",
                f"CREATE SERVER hbase_raw FOREIGN DATA WRAPPER widecol OPTIONS ({options}, timestamps 'raw')"]

    @staticmethod
    def command(*lines):
        """Runs commands of test/hbase/gateway.py, out of psql."""
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hbase", "gateway.py")
        return f"\\! printf '{''.join(line + chr(92) + 'n' for line in lines)}' | python3 {script} {HBase.port}"
