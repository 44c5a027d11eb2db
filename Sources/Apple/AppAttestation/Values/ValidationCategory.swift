/// The origin of an app's code, as iOS 27 and macOS 27 report it in `apple_validation_category_01`.
public enum ValidationCategory: UInt32, Sendable, CaseIterable {
    case invalid = 0
    case operatingSystem = 1
    case testFlight = 2
    case development = 3
    case appStore = 4
    /// Enterprise or ad hoc.
    case enterprise = 5
    case developerID = 6
    case local = 7
    case rosetta = 8
    case justInTime = 9
    case none = 10
}
