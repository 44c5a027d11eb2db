public import AppAttestation
public import AppleAccounts

/// The keys of App Attest. No column leads to a user.
public struct AppAttestKeyTable: Table {
    public static let name = "app_attest_key"

    public let keyID: Column<AttestedKeyID>
    public let appID: Column<AppID>
    public let publicKey: Column<[UInt8]>
    public let environment: Column<AttestationEnvironment>
    /// An unsigned number of 32 bits.
    public let counter: Column<Int64>
    public let createdAt: Column<Moment>
    public let usedAt: Column<Moment>
    /// An unsigned number of 32 bits.
    public let validationCategory: Column<Int64>
    public let bundleVersion: Column<String>
    public let receipt: Column<SealedSecret>
    public let receiptRefreshAt: Column<Moment>
    public let riskMetric: Column<Int64>

    public init(_ columns: inout ColumnList) {
        keyID = columns("key_id", .operational, .required)
        appID = columns("app_id", .operational, .required)
        publicKey = columns("public_key", .operational, .required, .length(65...65))
        environment = columns("environment", .operational, .required)
        counter = columns("counter", .operational, .required, .range(0...Int64(UInt32.max)))
        createdAt = columns("created_at", .operational, .required)
        usedAt = columns("used_at", .operational, .required)
        validationCategory = columns(
            "validation_category", .operational, .optional, .range(0...Int64(UInt32.max)))
        bundleVersion = columns(
            "bundle_version", .operational, .optional, .length(1...AttestedAppFacts.longestBundleVersion))
        receipt = columns("receipt", .secret, .optional)
        receiptRefreshAt = columns("receipt_refresh_at", .operational, .optional)
        riskMetric = columns("risk_metric", .operational, .optional, .range(0...Int64.max))
    }
}

extension ColumnChoice where T == AppAttestKeyTable {
    /// The key of the row, and what an assertion changes.
    public static var use: Self {
        only { [$0.keyID, $0.counter, $0.usedAt, $0.validationCategory, $0.bundleVersion] }
    }
}

extension AppAttestKeyTable {
    @inlinable public func write(_ key: AttestedKeyRecord, to row: some WritableRow) {
        row.set(keyID, key.id)
        row.set(appID, key.appID)
        row.set(publicKey, key.publicKey)
        row.set(environment, key.environment)
        row.set(counter, Int64(key.counter))
        row.set(createdAt, key.createdAt)
        row.set(usedAt, key.usedAt)
        row.set(validationCategory, key.facts.validationCategory.map { Int64($0) })
        row.set(bundleVersion, key.facts.bundleVersion)
        row.set(receipt, key.receipt)
        row.set(receiptRefreshAt, key.receiptRefreshAt)
        row.set(riskMetric, key.riskMetric)
    }

    @inlinable public func key(_ row: some ReadableRow) throws(StorageError) -> AttestedKeyRecord {
        guard let counter = UInt32(exactly: try row.required(counter)) else {
            throw row.missingValue(in: counter)
        }
        return AttestedKeyRecord(
            id: try row.required(keyID), appID: try row.required(appID),
            publicKey: try row.required(publicKey), environment: try row.requiredCode(environment),
            counter: counter, createdAt: try row.required(createdAt), usedAt: try row.required(usedAt),
            facts: AttestedAppFacts(
                validationCategory: row[validationCategory].flatMap { UInt32(exactly: $0) },
                bundleVersion: row[bundleVersion]),
            receipt: row[receipt], receiptRefreshAt: row[receiptRefreshAt], riskMetric: row[riskMetric])
    }
}

/// The number of keys of each app, which bounds the keys. It changes with them, in the same transaction.
public struct AppAttestCountTable: Table {
    public static let name = "app_attest_count"

    public let appID: Column<AppID>
    public let keyCount: Column<Int64>

    public init(_ columns: inout ColumnList) {
        appID = columns("app_id", .operational, .required)
        keyCount = columns("key_count", .operational, .required, .range(0...Int64.max))
    }
}
