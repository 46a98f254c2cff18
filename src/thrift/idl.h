/*
 * thrift/idl.h: the part of HBase's Thrift2 interface that widecol uses: field numbers and
 * enumerations of hbase.thrift (HBase 2.6).
 *
 * Constants are named WC_<struct>_<field> after hbase.thrift: test/hbase compares them with the
 * interface of the HBase that it runs.
 */
#ifndef WC_THRIFT_IDL_H
#define WC_THRIFT_IDL_H

/* Fields of every result: 0 is the returned value, the others are exceptions. */
enum
{
	WC_RESULT_SUCCESS = 0,
	WC_RESULT_IO = 1,			/* TIOError */
	WC_RESULT_IA = 2			/* TIllegalArgument */
};

enum
{
	WC_TIOError_message = 1,
	WC_TIOError_canRetry = 2
};

/* Thrift's own exception, for a call that the server could not run. */
enum
{
	WC_TApplicationException_message = 1,
	WC_TApplicationException_type = 2
};

enum
{
	WC_TTimeRange_minStamp = 1,
	WC_TTimeRange_maxStamp = 2
};

enum
{
	WC_TColumn_family = 1,
	WC_TColumn_qualifier = 2,
	WC_TColumn_timestamp = 3
};

enum
{
	WC_TColumnValue_family = 1,
	WC_TColumnValue_qualifier = 2,
	WC_TColumnValue_value = 3,
	WC_TColumnValue_timestamp = 4,
	WC_TColumnValue_type = 6
};

enum
{
	WC_TResult_row = 1,
	WC_TResult_columnValues = 2,
	WC_TResult_partial = 4
};

enum
{
	WC_TScan_startRow = 1,
	WC_TScan_stopRow = 2,
	WC_TScan_columns = 3,
	WC_TScan_caching = 4,
	WC_TScan_maxVersions = 5,
	WC_TScan_timeRange = 6,
	WC_TScan_attributes = 9,
	WC_TScan_reversed = 11,
	WC_TScan_limit = 15,
	WC_TScan_filterBytes = 18
};

enum
{
	WC_TGet_row = 1,
	WC_TGet_columns = 2,
	WC_TGet_timeRange = 4,
	WC_TGet_maxVersions = 5,
	WC_TGet_filterBytes = 15
};

enum
{
	WC_TPut_row = 1,
	WC_TPut_columnValues = 2,
	WC_TPut_attributes = 5
};

enum
{
	WC_TDelete_row = 1,
	WC_TDelete_columns = 2,
	WC_TDelete_deleteType = 4
};

enum
{
	WC_TDeleteType_DELETE_COLUMN = 0,	/* one version */
	WC_TDeleteType_DELETE_COLUMNS = 1,
	WC_TDeleteType_DELETE_FAMILY = 2,
	WC_TDeleteType_DELETE_FAMILY_VERSION = 3
};

enum
{
	WC_TColumnIncrement_family = 1,
	WC_TColumnIncrement_qualifier = 2,
	WC_TColumnIncrement_amount = 3
};

enum
{
	WC_TIncrement_row = 1,
	WC_TIncrement_columns = 2
};

enum
{
	WC_TAppend_row = 1,
	WC_TAppend_columns = 2
};

enum
{
	WC_TMutation_put = 1,
	WC_TMutation_deleteSingle = 2
};

enum
{
	WC_TRowMutations_row = 1,
	WC_TRowMutations_mutations = 2
};

/* Arguments. */
enum
{
	WC_get_table = 1,
	WC_get_tget = 2
};

enum
{
	WC_putMultiple_table = 1,
	WC_putMultiple_tputs = 2
};

enum
{
	WC_deleteMultiple_table = 1,
	WC_deleteMultiple_tdeletes = 2
};

enum
{
	WC_mutateRow_table = 1,
	WC_mutateRow_trowMutations = 2
};

enum
{
	WC_increment_table = 1,
	WC_increment_tincrement = 2
};

enum
{
	WC_append_table = 1,
	WC_append_tappend = 2
};

enum
{
	WC_checkAndMutate_table = 1,
	WC_checkAndMutate_row = 2,
	WC_checkAndMutate_family = 3,
	WC_checkAndMutate_qualifier = 4,
	WC_checkAndMutate_compareOp = 5,
	WC_checkAndMutate_value = 6,
	WC_checkAndMutate_rowMutations = 7
};

enum
{
	WC_TCompareOp_EQUAL = 2
};

enum
{
	WC_getScannerResults_table = 1,
	WC_getScannerResults_tscan = 2,
	WC_getScannerResults_numRows = 3
};

enum
{
	WC_getTableDescriptor_table = 1,
	WC_deleteTable_tableName = 1,
	WC_enableTable_tableName = 1,
	WC_disableTable_tableName = 1,
	WC_isTableEnabled_tableName = 1
};

enum
{
	WC_createTable_desc = 1,
	WC_createTable_splitKeys = 2
};

enum
{
	WC_truncateTable_tableName = 1,
	WC_truncateTable_preserveSplits = 2
};

enum
{
	WC_addColumnFamily_tableName = 1,
	WC_addColumnFamily_column = 2,
	WC_modifyColumnFamily_tableName = 1,
	WC_modifyColumnFamily_column = 2,
	WC_deleteColumnFamily_tableName = 1,
	WC_deleteColumnFamily_column = 2
};

enum
{
	WC_getAllRegionLocations_table = 1
};

enum
{
	WC_THRegionLocation_regionInfo = 2
};

enum
{
	WC_THRegionInfo_startKey = 3,
	WC_THRegionInfo_replicaId = 7
};

enum
{
	WC_createNamespace_namespaceDesc = 1,
	WC_deleteNamespace_name = 1
};

enum
{
	WC_TNamespaceDescriptor_name = 1
};

enum
{
	WC_getTableDescriptorsByNamespace_name = 1
};

enum
{
	WC_TTableName_ns = 1,
	WC_TTableName_qualifier = 2
};

enum
{
	WC_TTableDescriptor_tableName = 1,
	WC_TTableDescriptor_columns = 2
};

enum
{
	WC_TColumnFamilyDescriptor_name = 1,
	WC_TColumnFamilyDescriptor_blockSize = 4,
	WC_TColumnFamilyDescriptor_bloomnFilterType = 5,
	WC_TColumnFamilyDescriptor_compressionType = 6,
	WC_TColumnFamilyDescriptor_keepDeletedCells = 9,
	WC_TColumnFamilyDescriptor_maxVersions = 10,
	WC_TColumnFamilyDescriptor_minVersions = 11,
	WC_TColumnFamilyDescriptor_timeToLive = 13,
	WC_TColumnFamilyDescriptor_blockCacheEnabled = 14,
	WC_TColumnFamilyDescriptor_inMemory = 20
};

enum
{
	WC_TBloomFilterType_NONE = 0,
	WC_TBloomFilterType_ROW = 1,
	WC_TBloomFilterType_ROWCOL = 2
};

enum
{
	WC_TCompressionAlgorithm_LZO = 0,
	WC_TCompressionAlgorithm_GZ = 1,
	WC_TCompressionAlgorithm_NONE = 2,
	WC_TCompressionAlgorithm_SNAPPY = 3,
	WC_TCompressionAlgorithm_LZ4 = 4,
	WC_TCompressionAlgorithm_BZIP2 = 5,
	WC_TCompressionAlgorithm_ZSTD = 6
};

enum
{
	WC_TKeepDeletedCells_FALSE = 0,
	WC_TKeepDeletedCells_TRUE = 1,
	WC_TKeepDeletedCells_TTL = 2
};

enum
{
	WC_TThriftServerType_ONE = 1,
	WC_TThriftServerType_TWO = 2
};

#endif
