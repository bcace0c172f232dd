@_exported public import SettleCore
@_exported public import SettleDatabase
@_exported public import SettleReplication
@_exported public import SettleViews
