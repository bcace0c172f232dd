@_exported public import RevisionTree
@_exported public import SettleDatabase
@_exported public import SettleReplication
@_exported public import SettleViews
