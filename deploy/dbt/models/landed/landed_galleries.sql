{{ landed('galleries') }}
