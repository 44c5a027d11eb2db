/// The templates of the pages of `siwa dev`, by the names of their files.
enum WorldTemplates {
    static let files: [String: [UInt8]] = [
        "start": PackageResources.start_mustache,
        "world-exchange": PackageResources.world_exchange_mustache,
        "world-exchanges": PackageResources.world_exchanges_mustache,
        "world-faults": PackageResources.world_faults_mustache,
        "world-google": PackageResources.world_google_mustache,
        "world-keys": PackageResources.world_keys_mustache,
        "world-notifications": PackageResources.world_notifications_mustache,
        "world-overview": PackageResources.world_overview_mustache,
        "world-people": PackageResources.world_people_mustache,
        "world-person": PackageResources.world_person_mustache,
        "world-sequence": PackageResources.world_sequence_mustache,
        "world-tabs": PackageResources.world_tabs_mustache,
    ]
}
