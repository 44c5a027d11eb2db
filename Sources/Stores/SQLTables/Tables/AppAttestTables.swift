public import AppAttestation
public import AppleAccounts

/// The table of App Attest keys. No column identifies a user.
public typealias AppAttestKeyTable = RecordTable<AttestedKeyRecord>

extension AttestedKeyRecord: StoredRecord {
    public static var table: String { "app_attest_key" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        AttestedKeyRecord(
            id: try column("key_id", .operational, \.id), appID: try column("app_id", .operational, \.appID),
            publicKey: try column("public_key", .operational, \.publicKey, .length(65...65)),
            environment: try column.code("environment", .operational, \.environment),
            counter: try column("counter", .operational, \.counter),
            createdAt: try column("created_at", .operational, \.createdAt),
            usedAt: try column("used_at", .operational, \.usedAt),
            facts: AttestedAppFacts(
                validationCategory: try column(
                    "validation_category", .operational, \.facts.validationCategory),
                bundleVersion: try column(
                    "bundle_version", .operational, \.facts.bundleVersion,
                    .length(1...AttestedAppFacts.longestBundleVersion))),
            receipt: try column("receipt", .secret, \.receipt),
            receiptRefreshAt: try column("receipt_refresh_at", .operational, \.receiptRefreshAt),
            riskMetric: try column("risk_metric", .operational, \.riskMetric, .range(0...Int64.max)))
    }
}

extension ColumnChoice where T == AppAttestKeyTable {
    /// The row's key, and the columns that an assertion changes.
    public static var use: Self {
        only { [$0.id, $0.counter, $0.usedAt, $0[\.facts.validationCategory], $0[\.facts.bundleVersion]] }
    }
}

/// The table of key counts per app, for the key limit. A count changes in the same transaction as the keys.
public struct AppAttestCountTable: Table {
    public static let name = "app_attest_count"

    public let appID: Column<AppID>
    public let keyCount: Column<Int64>

    public init(_ columns: inout ColumnList) {
        appID = columns("app_id", .operational, .required)
        keyCount = columns("key_count", .operational, .required, .range(0...Int64.max))
    }
}
